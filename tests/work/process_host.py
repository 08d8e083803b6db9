"""A program of its own that runs another through Processes, to be killed in a test."""

import sys

from PySide6.QtCore import QCoreApplication

from app.work.process import Processes


def main() -> None:
    """Run the command given as arguments and print its lines."""
    application = QCoreApplication(sys.argv[:1])
    processes = Processes()
    process = processes.start(sys.argv[1:])
    process.line_read.connect(lambda line: print(line, flush=True))
    process.ended.connect(application.quit)
    application.exec()


if __name__ == "__main__":
    main()
