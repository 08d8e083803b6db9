"""Which devices a load may use: all that were found, some, one, a card thought of, none."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QDoubleSpinBox, QHBoxLayout, QSpinBox, QWidget

from app.core.machine import Device
from app.ui import theme
from app.ui.models import device_choice
from app.ui.widgets.check_menu import CheckMenu
from app.ui.widgets.field import Combo, Field, combo

_ALL, _SOME, _CARD, _NONE = "all", "some", "card", "none"


class DeviceChooser(QWidget):
    """Emits `changed` when another device is chosen or the card thought of changes."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._detected: tuple[Device, ...] = ()
        self._is_chosen = False  # by the user, who is not overruled then
        self._box = Combo()
        self._box.setObjectName("device")
        self._gib = QDoubleSpinBox()
        self._gib.setObjectName("cardGib")
        self._gib.setRange(0.5, 1024)
        self._gib.setDecimals(1)
        self._gib.setValue(8)
        self._gib.setSuffix(" GiB")
        self._kind = combo("cardKind", device_choice.KINDS)
        self._count = QSpinBox()
        self._count.setObjectName("cardCount")
        self._count.setRange(1, 8)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.M)
        layout.addWidget(Field(self.tr("Device"), self._box), 1)
        self._some = CheckMenu("someDevices")
        self._some_field = Field(self.tr("Devices to use"), self._some)
        layout.addWidget(self._some_field, 1)
        self._card_fields = (
            Field(self.tr("Card's free memory"), self._gib),
            Field(self.tr("Card's backend"), self._kind),
            Field(self.tr("Cards"), self._count),
        )
        for field in self._card_fields:
            layout.addWidget(field, 1)
        self.set_devices((), is_known=False)
        self._box.currentIndexChanged.connect(self._on_device)
        self._gib.valueChanged.connect(self.changed)
        self._count.valueChanged.connect(self.changed)
        self._kind.currentIndexChanged.connect(self.changed)
        self._some.changed.connect(self.changed)

    def set_devices(self, devices: tuple[Device, ...], *, is_known: bool) -> None:
        """Offer the detected devices; keeps the user's choice while it is still offered.

        A computer that was looked at and has no device starts with none, not with a card that
        is not there.
        """
        kept = self._box.currentData()
        self._detected = devices
        self._some.set_entries(tuple((d.id, device_choice.title(d)) for d in devices))
        self._box.blockSignals(True)
        self._box.clear()
        if len(devices) > 1:
            self._box.addItem(self.tr("All {} devices").format(len(devices)), _ALL)
            self._box.addItem(self.tr("Some devices"), _SOME)
        for device in devices:
            self._box.addItem(device_choice.title(device), device.id)
        self._box.addItem(self.tr("A card I think of"), _CARD)
        self._box.addItem(self.tr("No device"), _NONE)
        index = self._box.findData(kept)
        first = self._box.findData(_NONE) if is_known and not devices else 0
        self._box.setCurrentIndex(index if index >= 0 and self._is_chosen else first)
        self._box.blockSignals(False)
        self._show_card()

    @property
    def devices(self) -> tuple[Device, ...]:
        """Return the devices the load may use."""
        chosen = self._box.currentData()
        if chosen == _CARD:
            return device_choice.cards(
                self._gib.value(), self._kind.currentData(), self._count.value()
            )
        if chosen == _SOME:
            return tuple(d for d in self._detected if d.id in self._some.checked)
        return tuple(d for d in self._detected if chosen in (_ALL, d.id))

    @property
    def device_ids(self) -> tuple[str, ...]:
        """Return the ids to name to the runtime; empty = it may use all it has."""
        chosen = self._box.currentData()
        if chosen == _SOME:
            return self._some.checked
        is_one_of_many = len(self._detected) > 1 and chosen not in (_ALL, _CARD, _NONE)
        return (chosen,) if is_one_of_many else ()

    @property
    def uses_devices(self) -> bool:
        """Tell whether the load may use any device."""
        return bool(self._box.currentData() != _NONE)

    def _on_device(self) -> None:
        self._is_chosen = True
        self._show_card()
        self.changed.emit()

    def _show_card(self) -> None:
        self._some_field.setVisible(self._box.currentData() == _SOME)
        for field in self._card_fields:
            field.setVisible(self._box.currentData() == _CARD)
