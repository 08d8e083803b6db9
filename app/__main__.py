"""Start here: files or nothing opens the window, a subcommand runs without one."""

import sys
from collections.abc import Sequence
from pathlib import Path

COMMANDS = ("hardware", "plan", "log", "bench", "diagnose", "report", "self-test")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the window or a command and return the exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    first = arguments[0] if arguments else ""
    if first == "--guard":
        from app.work import guard  # must start fast and without Qt

        return guard.main(arguments[1:])
    if first == "--measure-bandwidth":
        from app.probes import bandwidth  # in a process of its own: it fills the memory

        return bandwidth.main(arguments[1:])
    if first in COMMANDS or first.startswith("-") or _is_mistyped(first):
        from app import cli

        return cli.main(arguments)
    from app.ui import start

    return start.run(arguments)


def _is_mistyped(word: str) -> bool:
    """Tell whether a word is neither a file here nor looks like one."""
    return bool(word) and not Path(word).exists() and not any(c in word for c in "./\\:")


if __name__ == "__main__":
    sys.exit(main())
