"""The composition root: application, theme, session, window."""

import gc
import os
import sys
import time
from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtGui import QFileOpenEvent, QIcon
from PySide6.QtWidgets import QApplication

from app import paths, product
from app.ui import crash, theme
from app.ui.main_window import MainWindow
from app.work.jobs import Jobs
from app.work.session import Session
from app.work.settings import THEME, Settings

# seconds since the epoch; set it to print the time to the window
STARTED = f"{product.SLUG.upper()}_STARTED"

_SWITCH_S = 0.0005
_YOUNG = 10_000  # new objects between two collections; each of the older ones costs more


class Application(QApplication):
    """Takes files that the system opens with us; macOS sends them as events, early or late."""

    def __init__(self, argv: Sequence[str]) -> None:
        super().__init__(list(argv))
        self._waiting: list[str] = []
        self._session: Session | None = None

    def use(self, session: Session) -> None:
        """Hand files over to a session, also those that came before it was there."""
        self._session = session
        if self._waiting:
            session.open_paths(self._waiting)
            self._waiting = []

    def event(self, event: QEvent) -> bool:
        """Open the file of a file-open event."""
        if isinstance(event, QFileOpenEvent):
            if self._session is None:
                self._waiting.append(event.file())
            else:
                self._session.open_paths([event.file()])
            return True
        return super().event(event)


def make_application(argv: Sequence[str]) -> Application:
    """Make the application object with name, icon and style."""
    Application.setApplicationName(product.SLUG)
    Application.setApplicationDisplayName(product.NAME)
    Application.setApplicationVersion(product.VERSION)
    Application.setDesktopFileName(product.DESKTOP_ID)
    app = Application(argv)
    app.setStyle("Fusion")
    app.setWindowIcon(QIcon(str(paths.resources() / "icons" / "app.svg")))
    return app


def make_window(app: QApplication, settings: Settings | None = None) -> MainWindow:
    """Make the window over a new session; the window owns both session and jobs."""
    settings = settings or Settings()
    theme.apply(app, settings.get(THEME))
    jobs = Jobs()
    session = Session(jobs, settings)
    window = MainWindow(session)
    jobs.setParent(window)
    session.setParent(window)

    def follow(_scheme: object) -> None:
        theme.refresh(app, settings.get(THEME))

    app.styleHints().colorSchemeChanged.connect(follow)
    window.destroyed.connect(lambda: app.styleHints().colorSchemeChanged.disconnect(follow))
    return window


def settle() -> None:
    """Let jobs compute beside the window without holding it up; for the whole process."""
    # a job gives way after this long; painting calls Qt some hundred times, and may wait each time
    sys.setswitchinterval(_SWITCH_S)
    # all that is loaded stays: the collector need not walk over it while a large log is read
    gc.freeze()
    gc.set_threshold(_YOUNG, 5, 40)


def run(files: Sequence[str]) -> int:
    """Show the window, open the files, and run until the window is closed."""
    if not _has_screen():
        if sys.stderr is not None:
            sys.stderr.write(
                f"{product.SLUG}: There is no screen to show a window on. Without one, "
                f"{product.SLUG} diagnose MODEL does the same in the terminal.\n"
            )
        return 2
    app = make_application(sys.argv[:1])
    crash.install()
    window = make_window(app)
    window.show()
    settle()
    app.use(window.session)
    if os.environ.get(STARTED):
        window.installEventFilter(_FirstPaint(window))
    window.session.open_paths(files)
    window.detection.start()
    return app.exec()


def _has_screen() -> bool:
    """Tell whether Qt has a chance; without a display it would end the process by itself."""
    if not sys.platform.startswith("linux"):
        return True
    return any(os.environ.get(n) for n in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"))


class _FirstPaint(QObject):
    """Prints how long it took to the first painted window, then is silent."""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Paint:
            watched.removeEventFilter(self)
            QTimer.singleShot(0, self, self._print)
        return False

    def _print(self) -> None:
        seconds = time.time() - float(os.environ[STARTED])
        if sys.stderr is not None:
            sys.stderr.write(f"window after {seconds * 1000:.0f} ms\n")
