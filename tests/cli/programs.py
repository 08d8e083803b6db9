"""The real programs below a command, for tests that kill it."""

import psutil


def programs_of(command: psutil.Process) -> list[psutil.Process]:
    """Return llama.cpp's processes below the command; the guards before them do not count."""
    try:
        below = command.children(recursive=True)
        return [child for child in below if child.name().startswith("llama-")]
    except psutil.NoSuchProcess:
        return []


def is_alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
