package main

import (
	"os"

	"golang.org/x/sys/windows"
)

// terminalSize returns the columns and rows of a console's window; false for a file that is none.
func terminalSize(file *os.File) (width, height int, ok bool) {
	var info windows.ConsoleScreenBufferInfo
	if err := windows.GetConsoleScreenBufferInfo(windows.Handle(file.Fd()), &info); err != nil {
		return 0, 0, false
	}
	return int(info.Window.Right-info.Window.Left) + 1, int(info.Window.Bottom-info.Window.Top) + 1, true
}
