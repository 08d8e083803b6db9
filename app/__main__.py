"""Start here: files or nothing opens the window, a subcommand runs without one."""

import sys
from collections.abc import Sequence

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
    if first in COMMANDS or first.startswith("-"):
        from app import cli

        return cli.main(arguments)
    from app.ui import start

    return start.run(arguments)


if __name__ == "__main__":
    sys.exit(main())
