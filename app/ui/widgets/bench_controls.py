"""What a benchmark measures: layers, device, threads, cache types, lengths, repetitions."""

from PySide6.QtWidgets import QComboBox, QGridLayout, QSpinBox, QWidget

from app.core import quants
from app.ui import theme
from app.ui.models.bench_model import BenchChoice
from app.ui.widgets.field import Field, combo
from app.work.settings import REPETITIONS, TAB_N_GEN, TAB_N_PROMPT, Settings

_COLUMNS = 5


class BenchControls(QWidget):
    """Gives the choice; remembers lengths and repetitions in the settings."""

    def __init__(self, settings: Settings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._settings = settings
        self._ngl = _spin("benchNgl", -1, 999, -1)
        self._ngl.setSpecialValueText(self.tr("all"))
        self._device = combo(
            "benchDevice", ((self.tr("all that are found"), True), (self.tr("none"), False))
        )
        self._threads = _spin("benchThreads", 0, 1024, 0)
        self._threads.setSpecialValueText(self.tr("program's default"))
        types = tuple((name, name) for name in quants.CACHE_TYPES)
        self._type_k, self._type_v = combo("benchTypeK", types), combo("benchTypeV", types)
        for box in (self._type_k, self._type_v):
            box.setCurrentIndex(box.findData("f16"))
        self._prompt = _spin("benchPrompt", 1, 1 << 20, settings.get(TAB_N_PROMPT))
        self._gen = _spin("benchGen", 1, 1 << 20, settings.get(TAB_N_GEN))
        self._depth = _spin("benchDepth", 0, 1 << 20, 0)
        self._repetitions = _spin("benchRepetitions", 1, 100, settings.get(REPETITIONS))
        layout = QGridLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.M)
        for i, (caption, control) in enumerate((
            (self.tr("n_gpu_layers"), self._ngl),
            (self.tr("Devices"), self._device),
            (self.tr("Threads"), self._threads),
            (self.tr("K cache type"), self._type_k),
            (self.tr("V cache type"), self._type_v),
            (self.tr("Prompt, tokens"), self._prompt),
            (self.tr("Generation, tokens"), self._gen),
            (self.tr("Tokens already in the context"), self._depth),
            (self.tr("Repetitions"), self._repetitions),
        )):  # fmt: skip
            layout.addWidget(Field(caption, control), i // _COLUMNS, i % _COLUMNS)
            layout.setColumnStretch(i % _COLUMNS, 1)

    def choice(self) -> BenchChoice:
        """Return what is set, and remember what is worth it."""
        for setting, spin in (
            (TAB_N_PROMPT, self._prompt), (TAB_N_GEN, self._gen), (REPETITIONS, self._repetitions),
        ):  # fmt: skip
            if self._settings.get(setting) != spin.value():
                self._settings.set(setting, spin.value())
        return BenchChoice(
            ngl=self._ngl.value(),
            uses_devices=_data(self._device) is True,
            threads=self._threads.value(),
            cache_type_k=str(_data(self._type_k)),
            cache_type_v=str(_data(self._type_v)),
            n_prompt=self._prompt.value(),
            n_gen=self._gen.value(),
            depth=self._depth.value(),
            repetitions=self._repetitions.value(),
        )


def _spin(name: str, low: int, high: int, value: int) -> QSpinBox:
    spin = QSpinBox()
    spin.setObjectName(name)
    spin.setRange(low, high)
    spin.setValue(value)
    return spin


def _data(box: QComboBox) -> object:
    return box.currentData()
