"""Checks the packaged program: every tab, a model read, a PDF written, all its parts counted."""

import json
import os
import platform
import sys
import tempfile
import time
import traceback
from argparse import ArgumentParser, Namespace
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from app import product
from app.cli import ANSWERED, FAILED

if TYPE_CHECKING:
    from PySide6.QtGui import QImage

    from app.ui.main_window import MainWindow
    from app.ui.start import Application
    from app.work.jobs import Job

TIME_LIMIT_MS = 60_000
GRID_PIXELS = 4
# an empty window has one or two, a text in one colour a few dozen with its smooth edges
FEWEST_COLOURS = 100


@dataclass(slots=True)
class _Found:
    """What the steps found so far."""

    problems: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)  # of Qt
    figures: dict[str, Any] = field(default_factory=dict)  # as they go into the JSON


def add_options(parser: ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the answer to a file")


def main(options: Namespace) -> int:
    """Run all checks, write what was found, and return 0 when all is well, else 1."""
    with tempfile.TemporaryDirectory(prefix=product.SLUG, ignore_cleanup_errors=True) as folder:
        # neither read nor change what belongs to the user
        for what in ("DATA", "CONFIG"):
            os.environ[f"{product.SLUG.upper()}_{what}"] = folder
        found = _check(Path(folder))
    text = json.dumps(_document(found), indent=2)
    if options.json:
        options.json.write_text(f"{text}\n", encoding="utf-8")
    elif sys.stdout is not None:  # a Windows program without a console has none
        print(text)
    return FAILED if found.problems else ANSWERED


def _check(folder: Path) -> _Found:
    from PySide6.QtCore import QTimer, QtMsgType, qInstallMessageHandler

    from app.ui import start

    found = _Found()

    def on_message(kind: QtMsgType, _context: object, text: str) -> None:
        # the offscreen platform says this about every window
        if kind is not QtMsgType.QtDebugMsg and "propagateSizeHints" not in text:
            found.messages.append(text)

    qInstallMessageHandler(on_message)
    app = start.make_application([product.SLUG])
    steps = _Steps(app, found, folder)
    # Qt hands exceptions of what it calls to this hook, and would go on
    sys.excepthook = steps.fail
    limit = QTimer(app)
    limit.setSingleShot(True)
    limit.timeout.connect(steps.time_out)
    limit.start(TIME_LIMIT_MS)
    QTimer.singleShot(0, steps.next)
    app.exec()
    limit.stop()
    sys.excepthook = sys.__excepthook__
    found.figures["platform"] = app.platformName()
    if steps.window is not None:
        steps.window.close()
        if steps.window.session.jobs.running():
            found.problems.append("work was left running")
    qInstallMessageHandler(None)
    return found


class _Steps:
    """The checks, one per turn of the event loop, so that the window lives in between."""

    def __init__(self, app: "Application", found: _Found, folder: Path) -> None:
        self.window: MainWindow | None = None
        self._app = app
        self._found = found
        self._folder = folder
        self._job: Job | None = None
        self._todo = [
            self._count_parts,
            self._make_window,
            self._build_tabs,
            self._open_model,
            self._look_at_tabs,
            self._write_pdf,
        ]

    def next(self) -> None:
        """Do the next check, or leave after the last one."""
        from PySide6.QtCore import QTimer

        if not self._todo:
            self._app.exit(0)
            return
        self._todo.pop(0)()
        if self._job is None:
            QTimer.singleShot(0, self.next)

    def fail(
        self, kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        """Note an exception and leave."""
        lines = traceback.format_exception(kind, error, trace)
        self._found.problems.append("".join(lines))
        self._app.exit(1)

    def time_out(self) -> None:
        """Note that it takes too long and leave."""
        self._found.problems.append(f"not finished after {TIME_LIMIT_MS // 1000} s")
        self._app.exit(1)

    def _count_parts(self) -> None:
        import app.probes
        import app.rules
        import app.runtimes
        from app.core import plugins
        from app.core.probe import Probe, RuntimeProbe
        from app.core.rule import Rule
        from app.logs import matcher

        self._found.figures["parts"] = {
            "rules": len(plugins.collect(app.rules, "RULE", Rule)),
            "probes": len(plugins.collect(app.probes, "PROBE", Probe)),
            "runtimes": len(plugins.collect(app.runtimes, "RUNTIME", RuntimeProbe)),
            "patterns": len(matcher.standard().patterns),
        }

    def _make_window(self) -> None:
        from app.ui import start

        self.window = start.make_window(self._app)
        self.window.show()

    @property
    def _window(self) -> "MainWindow":
        assert self.window is not None  # made before the steps that need it
        return self.window

    def _build_tabs(self) -> None:
        """Build each tab as a first click would, and say how long each took in ms."""
        from app.ui.main_window import TABS

        tabs = []
        for spec in TABS:
            begun = time.perf_counter()
            self._window.show_tab(spec.id)
            self._window.grab()
            tabs.append({"id": spec.id, "ms": round(1000 * (time.perf_counter() - begun), 1)})
        self._found.figures["tabs"] = tabs

    def _open_model(self) -> None:
        """Open a small model as a drop would; the next check waits until it was read."""
        from app.gguf.sample import write_sample

        path = self._folder / "sample.gguf"
        write_sample(path)
        self._job = self._window.session.open_paths([str(path)])
        if self._job is not None:
            self._job.finished.connect(self._on_model_read)

    def _on_model_read(self) -> None:
        from PySide6.QtCore import QTimer

        self._job = None
        model = self._window.session.evidence.model
        if model is None:
            self._found.problems.append("the small model was not read")
        else:
            self._found.figures["model"] = {
                "tensors": len(model.tensors),
                "bytes": model.tensor_bytes,
            }
        QTimer.singleShot(0, self.next)

    def _look_at_tabs(self) -> None:
        """Count the colours of each tab with the model in it."""
        from app.ui.main_window import TABS

        colours = {}
        for spec in TABS:
            self._window.show_tab(spec.id)
            image = self._window.grab().toImage()
            colours[spec.id] = _count_colours(image)
            if colours[spec.id] < FEWEST_COLOURS:
                self._found.problems.append(f"the tab {spec.id} has {colours[spec.id]} colours")
        self._found.figures["window"] = {
            "width": self._window.width(),
            "height": self._window.height(),
            "colours": colours,
        }

    def _write_pdf(self) -> None:
        """Write the report of what was seen."""
        from app.report import document
        from app.work.pdf import write_pdf

        session = self._window.session
        path = self._folder / "report.pdf"
        report = document.build(session.evidence, session.diagnosis)
        n_pages = write_pdf(report, session.evidence, path)
        data = path.read_bytes()
        self._found.figures["pdf"] = {"pages": n_pages, "bytes": len(data)}
        if not data.startswith(b"%PDF-") or n_pages < 1:
            self._found.problems.append("the PDF is none")


def _count_colours(image: "QImage") -> int:
    """Count over a grid of the whole picture: one line of it gave false alarms."""
    return len(
        {
            image.pixel(x, y)
            for y in range(0, image.height(), GRID_PIXELS)
            for x in range(0, image.width(), GRID_PIXELS)
        }
    )


def _document(found: _Found) -> dict[str, Any]:
    return {
        "schema": product.schema("self-test"),
        "ok": not found.problems,
        "problems": found.problems,
        "frozen": bool(getattr(sys, "frozen", False)),
        "system": platform.platform(),
        "versions": _versions(),
        **found.figures,
        "qt_messages": found.messages,
    }


def _versions() -> dict[str, str]:
    """Return the versions of what was really loaded."""
    from PySide6.QtCore import qVersion

    loaded: dict[str, str] = {
        name: sys.modules[name].__version__
        for name in ("PySide6", "numpy", "pyqtgraph", "psutil")
        if name in sys.modules
    }
    own = {product.SLUG: product.VERSION, "python": platform.python_version(), "qt": qVersion()}
    return {**own, **loaded}
