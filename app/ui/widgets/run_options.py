"""How Diagnose loads the model: as the user's own command does, or with what is set here."""

from PySide6.QtWidgets import QLineEdit, QSpinBox, QVBoxLayout, QWidget

from app.core import units
from app.core.request import USUAL_CONTEXTS, LoadRequest
from app.core.symptom import TEXTS, Symptom
from app.ui.widgets.field import Field, combo
from app.ui.widgets.field_row import FieldRow

_SHORTEST_TEXT = 80


class RunOptions(QWidget):
    """Gives the request and the symptom; the defaults are what a plain command gets."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._ngl = QSpinBox()
        self._ngl.setObjectName("runNgl")
        self._ngl.setRange(-1, 999)
        self._ngl.setValue(-1)
        self._ngl.setSpecialValueText(self.tr("automatic"))
        contexts = tuple((units.count(n), n) for n in USUAL_CONTEXTS)
        self._ctx = combo("runContext", ((self.tr("program's default"), 0), *contexts))
        self._ctx.setCurrentIndex(self._ctx.findData(4096))
        self._device = combo("runDevice", ())
        self.show_devices(())
        self._threads = QSpinBox()
        self._threads.setObjectName("runThreads")
        self._threads.setRange(0, 1024)
        self._threads.setSpecialValueText(self.tr("program's default"))
        self._rpc = QLineEdit()
        self._rpc.setObjectName("runRpc")
        self._rpc.setPlaceholderText(self.tr("host:port, …"))
        self._rpc.setToolTip(
            self.tr(
                "Devices that llama.cpp reaches through ggml-rpc-server. llama.cpp itself connects "
                "to them."
            )
        )
        self._rpc.setMinimumWidth(_SHORTEST_TEXT)
        symptoms = tuple((TEXTS[symptom], symptom.value) for symptom in Symptom)
        self._symptom = combo("symptom", ((self.tr("nothing said"), ""), *symptoms))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        fields = (
            (self.tr("What do you see? (optional)"), self._symptom),
            (self.tr("n_gpu_layers"), self._ngl),
            (self.tr("Context, tokens"), self._ctx),
            (self.tr("Devices"), self._device),
            (self.tr("Threads"), self._threads),
            (self.tr("RPC servers (optional)"), self._rpc),
        )
        layout.addWidget(FieldRow([Field(caption, control) for caption, control in fields]))

    @property
    def request(self) -> LoadRequest:
        """Return the load to make."""
        return LoadRequest(
            ngl=self._ngl.value() if self._ngl.value() >= 0 else None,
            ctx=self._ctx.currentData() or None,
            use_devices=self._device.currentData() is not None,
            device_ids=self._device.currentData() or (),
            rpc_servers=self._rpc_servers(),
            threads=self._threads.value() or None,
        )

    def show_devices(self, ids: tuple[str, ...]) -> None:
        """Offer these devices one by one, beside all and none; the choice stays where it can."""
        chosen = self._device.currentData() if self._device.count() else ()
        entries: list[tuple[str, tuple[str, ...] | None]]
        entries = [(self.tr("all that are found"), ()), (self.tr("none"), None)]
        entries += [(name, (name,)) for name in ids] if len(ids) > 1 else []
        if [data for _text, data in entries] == [
            self._device.itemData(index) for index in range(self._device.count())
        ]:
            return
        self._device.clear()
        for text, data in entries:
            self._device.addItem(text, data)
        kept = [index for index, entry in enumerate(entries) if entry[1] == chosen]
        self._device.setCurrentIndex(kept[0] if kept else 0)

    def _rpc_servers(self) -> tuple[str, ...]:
        words = (word.strip() for word in self._rpc.text().replace(",", " ").split())
        return tuple(word for word in words if word.rpartition(":")[2].isdigit() and ":" in word)

    @property
    def symptom(self) -> str:
        """Return what the user sees, "" when nothing was said."""
        return str(self._symptom.currentData())
