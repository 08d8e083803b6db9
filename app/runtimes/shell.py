"""Writes argument lists as one line that a user can copy into a terminal."""

import re
import shlex

_PLAIN_WINDOWS = re.compile(r"[\w@%+=:,./\\-]+")


def line(words: tuple[str, ...], *, platform: str) -> str:
    """Return the words as one line for a POSIX shell, or for cmd and PowerShell on Windows."""
    if platform != "win32":
        return shlex.join(words)
    return " ".join(_windows(word) for word in words)


def _windows(word: str) -> str:
    if _PLAIN_WINDOWS.fullmatch(word):
        return word
    return '"' + word.replace('"', '\\"') + '"'
