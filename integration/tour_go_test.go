package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestReadmeGo runs the README's Go test as it is printed, in a module of its own that knows Kohort's by its path only.
func TestReadmeGo(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```go\n(package .*?)```").FindAllStringSubmatch(string(text), -1)
	if len(blocks) != 1 {
		t.Fatalf("the README has %d whole Go files, want 1", len(blocks))
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	sum, err := os.ReadFile("../go.sum")
	if err != nil {
		t.Fatal(err)
	}
	const module = "github.com/kohort/kohort"
	own := strings.Replace(string(mod), "module "+module+"\n", "module example.org/orders\n", 1)
	own += "\nrequire " + module + " v0.0.0\n\nreplace " + module + " => " + root + "\n"
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": own, "go.sum": string(sum), "orders_test.go": blocks[0][1]} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "test", "-mod=mod", "-v", ".")
	cmd.Dir = dir
	p := launch(t, cmd)
	if code := p.code(t, 2*time.Minute); code != 0 || !strings.Contains(p.stdout.text(), "--- PASS: TestOrders") {
		t.Errorf("exit code %d\n%s\n%s", code, p.stdout.text(), p.stderr.text())
	}
}
