"""How a load uses its devices: what stays free on each, and how several share the layers."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QSpinBox, QWidget

from app.core.machine import Device
from app.core.request import DEFAULT_TARGET_MIB, SplitMode
from app.ui import theme
from app.ui.models import device_choice
from app.ui.widgets.field import Combo, Field, combo

_MOST_MIB = 1 << 20
_ALONE, _ANY = 240, (1 << 24) - 1  # pixels; the last is Qt's "no limit"


class DeviceSettings(QWidget):
    """Emits `changed`; split and shares are only there for several devices."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._ids: tuple[str, ...] = ()
        self._margins: list[QSpinBox] = []
        self._margin_fields: list[Field] = []
        self._mode = combo("splitMode", tuple((mode.value, mode) for mode in SplitMode))
        self._mode.setCurrentIndex(self._mode.findData(SplitMode.LAYER))
        self._main = Combo()
        self._main.setObjectName("mainGpu")
        self._shares = QLineEdit()
        self._shares.setObjectName("tensorSplit")
        self._shares.setPlaceholderText(self.tr("by free memory"))
        self._shares.setToolTip(self.tr("One share a device, such as 3,1 (-ts)"))
        self._split_fields = (
            Field(self.tr("Split mode"), self._mode),
            Field(self.tr("Shares of the layers"), self._shares),
            Field(self.tr("Only device"), self._main),
        )
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(theme.M)
        for split_field in self._split_fields:
            self._row.addWidget(split_field, 1)
        self._row.addStretch(0)
        self.set_devices(())
        self._mode.currentIndexChanged.connect(self._on_mode)
        self._main.currentIndexChanged.connect(self.changed)
        self._shares.editingFinished.connect(self.changed)

    def set_devices(self, devices: tuple[Device, ...]) -> None:
        """Offer a margin for each device, and the split where there are several."""
        ids = tuple(device.id for device in devices)
        if ids == self._ids:
            self._show_split()
            return
        self._ids = ids
        while len(self._margins) < len(ids):
            self._add_margin()
        for i, (field, box) in enumerate(zip(self._margin_fields, self._margins, strict=True)):
            field.setVisible(i < len(ids))
            if i < len(ids):
                field.set_caption(self.tr("Keep free on {}, MiB").format(ids[i]))
                box.setObjectName(f"margin{i}")
            # one alone would fill the row
            field.setMaximumWidth(_ALONE if len(ids) == 1 else _ANY)
        self._main.blockSignals(True)
        self._main.clear()
        for i, name in enumerate(ids):
            self._main.addItem(name, i)
        self._main.blockSignals(False)
        self._show_split()

    @property
    def has_several(self) -> bool:
        """Tell whether there is something to split."""
        return len(self._ids) > 1

    @property
    def split_mode(self) -> SplitMode:
        """Return how several devices share the model; layer, the default, for one."""
        mode = self._mode.currentData() if self.has_several else SplitMode.LAYER
        return mode if isinstance(mode, SplitMode) else SplitMode.LAYER

    @property
    def main_gpu(self) -> int:
        """Return the place of the only device in split mode none."""
        is_none = self.split_mode is SplitMode.NONE
        return max(self._main.currentIndex(), 0) if is_none else 0

    @property
    def tensor_split(self) -> tuple[float, ...]:
        """Return the shares that are typed in, () = by free memory."""
        return device_choice.shares(self._shares.text(), len(self._ids))

    def set_tensor_split(self, shares: tuple[float, ...]) -> None:
        """Type in shares, () clears them."""
        self._shares.setText(",".join(f"{share:g}" for share in shares))
        self.changed.emit()

    @property
    def margins_mib(self) -> tuple[int, ...]:
        """Return what stays free on each device."""
        return tuple(box.value() for box in self._margins[: len(self._ids)])

    def _on_mode(self) -> None:
        self._show_split()
        self.changed.emit()

    def _show_split(self) -> None:
        mode, shares, main = self._split_fields
        is_none = self.split_mode is SplitMode.NONE
        mode.setVisible(self.has_several)
        shares.setVisible(self.has_several and not is_none)
        main.setVisible(self.has_several and is_none)

    def _add_margin(self) -> None:
        box = QSpinBox()
        box.setRange(0, _MOST_MIB)
        box.setSingleStep(128)
        box.setValue(DEFAULT_TARGET_MIB)
        box.setToolTip(self.tr("llama.cpp's --fit keeps 1,024 MiB free on each device (-fitt)"))
        box.valueChanged.connect(self.changed)
        field = Field("", box)
        self._margins.append(box)
        self._margin_fields.append(field)
        self._row.insertWidget(self._row.count() - 1, field, 1)
