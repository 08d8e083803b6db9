"""Takes the pictures of docs/screens: `python -m tests.screens`, with the real programs."""

import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from tests import real_programs

if TYPE_CHECKING:
    from PySide6.QtCore import QObject
    from PySide6.QtGui import QImage

T = TypeVar("T", bound="QObject")

SIZES = ((1280, 800), (1920, 1200))
SCREENS = Path(__file__).resolve().parent.parent / "docs" / "screens"
LOG = Path(__file__).resolve().parent / "data/logs/b10434-vulkan-partial-ngl9-lv4.log"


def main() -> int:
    """Take all pictures; one process, one window, a user folder of its own."""
    folder = Path(tempfile.gettempdir()) / "demo"  # it shows in the pictures
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name in ("DATA", "CONFIG", "CACHE"):
        os.environ[f"SLOWSCOPE_{name}"] = str(folder / name.lower())
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    os.environ["GGML_VK_VISIBLE_DEVICES"] = "0"
    os.environ["HF_HOME"] = str(folder)
    return Camera(folder).run()


class Camera:
    """Holds the window while its tabs are filled and pictured."""

    def __init__(self, folder: Path) -> None:
        from app.ui import start

        self.app = start.make_application(["screens"])
        self.window = start.make_window(self.app)
        self.window.show()
        self.folder = folder
        # links, so that no picture shows where this computer keeps its files
        self.gemma = self._link("gemma-3-270m-q4_k_m.gguf", real_programs.gemma())
        self.large = self._link("deepseek-r1-qwen-7b-q4_k_m.gguf", real_programs.deepseek_header())
        self.log = self._link("server.log", LOG)
        self.llama = self._link("llama.cpp", real_programs.llama_bin())
        self.vulkan = self._link("llama.cpp-vulkan", real_programs.vulkan_server().parent)

    def run(self) -> int:
        """Fill and picture one tab after the other."""
        SCREENS.mkdir(parents=True, exist_ok=True)
        self._use(self.llama)
        self._open(self.gemma)
        self._benchmark()
        self._use(self.vulkan)
        self._picture("hardware")
        self._live()
        self._diagnose()
        self._open(self.log)
        self._picture("logs")
        self._open(self.large)
        self._offload()
        self._picture("fit")
        self._replayed()
        self.window.close()
        total = sum(path.stat().st_size for path in SCREENS.glob("*.png"))
        print(f"{total / 1e6:.1f} million bytes in {SCREENS.name}")
        return 0

    def _replayed(self) -> None:
        """Picture the Hardware tab with machines of other people, from their recordings."""
        from app.probes import recorded
        from app.work.machine_reader import read_machine
        from tests.hosts import HOSTS

        self.window.session.set_llama_folder("")  # it is not a folder of theirs
        self._wait(lambda: not self.window.detection.is_running, 60)
        for name in ("windows-two-gpus", "mac-m4max-raised-limit", "strix-halo"):
            host = recorded.load(HOSTS / name)
            self.window.session.set_machine(read_machine(host, host.chosen))
            self._picture("hardware", f"hardware-{name}")

    def _live(self) -> None:
        """Picture the live charts: this computer while it computes, then a recorded hot card."""
        from PySide6.QtWidgets import QScrollBar

        from app.ui.models.live_history import History
        from app.ui.widgets.live_panel import LivePanel
        from tests.live_recordings import whole_readings

        self.window.show_tab("hardware")
        panel = self._control(LivePanel, "livePanel")
        card = panel.parentWidget()
        assert card is not None
        bars = self.window.findChildren(QScrollBar)
        bar = next(bar for bar in bars if bar.isVisible() and bar.maximum() > 0)

        def scroll() -> None:
            bar.setValue(card.y())

        bench = str(self.llama / "llama-bench")
        work = self.window.session.processes.start(
            [bench, "-m", str(self.gemma), "-t", "1", "-p", "64", "-n", "32", "-r", "50"]
        )
        for _ in range(40):  # twenty seconds of this computer
            self._settle()
        self._picture("hardware", "hardware-live", scroll)
        work.stop()
        panel._live.stop()
        panel._history = History()
        for reading in whole_readings():
            panel._on_read(reading)
        self._picture("hardware", "hardware-live-heat", scroll)
        panel._live.start()

    def _benchmark(self) -> None:
        from PySide6.QtWidgets import QPushButton, QSpinBox, QTableView

        self.window.show_tab("benchmark")
        measure = self._control(QPushButton, "benchMeasure")
        for name, value in (("benchPrompt", 128), ("benchGen", 32), ("benchRepetitions", 5)):
            self._control(QSpinBox, name).setValue(value)
        for threads in (1, 2):
            self._control(QSpinBox, "benchThreads").setValue(threads)
            measure.click()
            self._wait(measure.isEnabled, 120)
        self._wait(lambda: self.window.session.jobs.running() == 0, 30)
        self._control(QTableView, "notebookTable").selectAll()
        self._picture("benchmark")

    def _diagnose(self) -> None:
        from PySide6.QtWidgets import QComboBox, QPushButton

        self.window.show_tab("diagnose")
        box = self._control(QComboBox, "runDevice")
        box.setCurrentIndex(box.findData(False))
        start = self._control(QPushButton, "startDiagnose")
        start.click()
        self._wait(start.isEnabled, 240)
        self._picture("diagnose")

    def _offload(self) -> None:
        from PySide6.QtWidgets import QComboBox, QDoubleSpinBox, QSlider

        self.window.show_tab("offload")
        device = self._control(QComboBox, "device")
        device.setCurrentIndex(device.findData("card"))
        self._control(QDoubleSpinBox, "cardGib").setValue(4)
        self._control(QDoubleSpinBox, "slowRatio").setValue(8)
        self._control(QSlider, "nglSlider").setValue(18)
        self._picture("offload")

    def _picture(
        self, name: str, title: str = "", before: Callable[[], None] = lambda: None
    ) -> None:
        from PySide6.QtGui import QImage

        from app.ui import theme

        self.window.show_tab(name)
        for choice in (theme.LIGHT_NAME, theme.DARK_NAME):
            theme.apply(self.app, choice)
            for width, height in SIZES:
                self.window.resize(width, height)
                self._settle()
                before()
                self._settle()
                image = self.window.grab().toImage()
                small = image.convertToFormat(QImage.Format.Format_Indexed8, _colours(image))
                small.save(str(SCREENS / f"{title or name}-{choice}-{width}x{height}.png"))
        theme.apply(self.app, theme.LIGHT_NAME)
        print(title or name, flush=True)

    def _use(self, folder: Path) -> None:
        session, detection = self.window.session, self.window.detection
        session.set_llama_folder(str(folder))
        self._wait(lambda: not detection.is_running, 60)

    def _open(self, path: Path) -> None:
        self.window.session.open_paths([str(path)])
        self._wait(lambda: self.window.session.jobs.running() == 0, 60)

    def _settle(self) -> None:
        """Let layouts, curves from jobs and the charts come to rest."""
        from PySide6.QtCore import QEventLoop, QTimer

        loop = QEventLoop()
        QTimer.singleShot(500, loop.quit)
        loop.exec()

    def _wait(self, condition: Callable[[], bool], seconds: int) -> None:
        from PySide6.QtCore import QEventLoop, QTimer

        loop = QEventLoop()
        look = QTimer()
        look.timeout.connect(lambda: loop.quit() if condition() else None)
        look.start(20)
        QTimer.singleShot(seconds * 1000, loop, loop.quit)
        loop.exec()
        if not condition():
            raise TimeoutError("a screen was not ready in time")

    def _control(self, kind: type[T], name: str) -> T:
        found = self.window.findChild(kind, name)
        assert found is not None, name
        return found

    def _link(self, name: str, target: Path) -> Path:
        link = self.folder / name
        link.symlink_to(target)
        return link


def _colours(image: "QImage") -> list[int]:
    """Return the 256 colours a picture uses most; a general palette would change dark ones."""
    import numpy
    from PySide6.QtGui import QImage

    plain = image.convertToFormat(QImage.Format.Format_RGB32)
    pixels = numpy.frombuffer(plain.constBits(), dtype=numpy.uint32)
    colours, counts = numpy.unique(pixels, return_counts=True)
    return [int(colour) for colour in colours[numpy.argsort(counts)[::-1][:256]]]


if __name__ == "__main__":
    sys.exit(main())
