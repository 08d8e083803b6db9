"""How Diagnose loads the model: as the user's own command does, or with what is set here."""

from PySide6.QtWidgets import QHBoxLayout, QSpinBox, QWidget

from app.core import units
from app.core.request import LoadRequest
from app.core.symptom import TEXTS, Symptom
from app.ui import theme
from app.ui.widgets.field import Field, combo

_CONTEXTS = (2048, 4096, 8192, 16384, 32768, 65536, 131072)


class RunOptions(QWidget):
    """Gives the request and the symptom; the defaults are what a plain command gets."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._ngl = QSpinBox()
        self._ngl.setObjectName("runNgl")
        self._ngl.setRange(-1, 999)
        self._ngl.setValue(-1)
        self._ngl.setSpecialValueText(self.tr("automatic"))
        contexts = tuple((units.count(n), n) for n in _CONTEXTS)
        self._ctx = combo("runContext", ((self.tr("program's default"), 0), *contexts))
        self._ctx.setCurrentIndex(self._ctx.findData(4096))
        self._device = combo("runDevice", ((self.tr("all that are found"), True),
                                           (self.tr("none"), False)))  # fmt: skip
        self._threads = QSpinBox()
        self._threads.setObjectName("runThreads")
        self._threads.setRange(0, 1024)
        self._threads.setSpecialValueText(self.tr("program's default"))
        symptoms = tuple((TEXTS[symptom], symptom.value) for symptom in Symptom)
        self._symptom = combo("symptom", ((self.tr("nothing said"), ""), *symptoms))
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.M)
        for caption, control in (
            (self.tr("What do you see? (optional)"), self._symptom),
            (self.tr("n_gpu_layers"), self._ngl),
            (self.tr("Context, tokens"), self._ctx),
            (self.tr("Devices"), self._device),
            (self.tr("Threads"), self._threads),
        ):
            layout.addWidget(Field(caption, control), 1)

    @property
    def request(self) -> LoadRequest:
        """Return the load to make."""
        return LoadRequest(
            ngl=self._ngl.value() if self._ngl.value() >= 0 else None,
            ctx=self._ctx.currentData() or None,
            use_devices=self._device.currentData(),
            threads=self._threads.value() or None,
        )

    @property
    def symptom(self) -> str:
        """Return what the user sees, "" when nothing was said."""
        return str(self._symptom.currentData())
