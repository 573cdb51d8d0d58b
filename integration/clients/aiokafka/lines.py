"""The lines that a worker speaks: JSON objects out, commands in."""

import asyncio
import json
import sys
import threading


def say(event, **fields):
    """Prints one event."""
    print(json.dumps({"event": event, **fields}), flush=True)


def text(error):
    """Returns the client's own words for an error, with the name of its class."""
    name, words = type(error).__name__, str(error)
    return words if name in words else f"{name}: {words}"


def arguments(words, needed, allowed=()):
    """Parses name=value words; refuses what this worker does not know, lest it pass silently."""
    given = dict(word.split("=", 1) for word in words)
    missing = [name for name in needed if name not in given]
    unknown = [name for name in given if name not in needed and name not in allowed]
    if missing or unknown:
        raise ValueError(f"missing arguments {missing}, unknown arguments {unknown}")
    return given


class Commands:
    """The commands of standard input, as lists of words. Its end is a last command, close."""

    def __init__(self):
        self._lines = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in sys.stdin:
            if line.strip():
                self._put(line.split())
        self._put(["close"])

    def _put(self, command):
        try:
            self._loop.call_soon_threadsafe(self._lines.put_nowait, command)
        except RuntimeError:  # the loop has ended, and with it the worker
            pass

    async def wait(self):
        """Returns the next command, however long that takes."""
        return await self._lines.get()

    def next(self):
        """Returns the next command if there is one already, or else None."""
        return None if self._lines.empty() else self._lines.get_nowait()
