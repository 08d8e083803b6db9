"""The controls of a load: program, device, context, cache types, and r."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QDoubleSpinBox,
    QHBoxLayout,
    QPushButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from app.core import quants, units
from app.core.machine import Device
from app.core.request import DEFAULT_TARGET_MIB, USUAL_CONTEXTS, LoadRequest, Switch, Tool
from app.ui import theme
from app.ui.widgets.device_chooser import DeviceChooser
from app.ui.widgets.device_settings import DeviceSettings
from app.ui.widgets.field import Combo, Field, combo


class LoadControls(QWidget):
    """Emits `changed` when any of them moves; `request` and `devices` give what is set."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._make_controls()
        first = (
            (self.tr("Context, tokens"), self._ctx),
            (self.tr("K cache type"), self._type_k),
            (self.tr("V cache type"), self._type_v),
            (self.tr("r, host path slower by"), self._ratio),
        )
        more = (
            (self.tr("Program"), self._program),
            (self.tr("Flash attention"), self._flash),
            (self.tr("Micro-batch, tokens"), self._ubatch),
            (self.tr("Slots"), self._slots),
        )
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.M)
        # a row of its own: an imagined card has fields that would be cut beside the others
        layout.addWidget(self._chooser)
        top = self._row(first)
        self._toggle = QPushButton(self.tr("More settings"))
        self._toggle.setObjectName("moreSettings")
        self._toggle.setCheckable(True)
        top.addWidget(self._toggle, 0, Qt.AlignmentFlag.AlignBottom)
        layout.addLayout(top)
        self._more = QWidget()
        self._more.setLayout(self._row(more))
        self._more.hide()
        self._toggle.toggled.connect(self._more.setVisible)
        layout.addWidget(self._more)
        self._settings.hide()
        self._toggle.toggled.connect(self._show_settings)
        layout.addWidget(self._settings)

    def set_model(self, n_ctx_train: int) -> None:
        """Offer the contexts the model was trained for."""
        kept = self._ctx.currentData()
        self._ctx.blockSignals(True)
        self._ctx.clear()
        for n in USUAL_CONTEXTS:
            if n < n_ctx_train:
                self._ctx.addItem(units.count(n), n)
        if n_ctx_train:
            self._ctx.addItem(self.tr("{} (trained)").format(units.count(n_ctx_train)), n_ctx_train)
        index = self._ctx.findData(kept if kept is not None else min(4096, n_ctx_train))
        self._ctx.setCurrentIndex(max(index, 0))
        self._ctx.blockSignals(False)

    def set_devices(self, devices: tuple[Device, ...], *, is_known: bool) -> None:
        """Offer the detected devices and a hypothetical card."""
        self._chooser.set_devices(devices, is_known=is_known)
        self._show_settings()

    def set_ratio(self, value: float) -> None:
        """Show r without telling that it changed; 0 = not known."""
        self._ratio.blockSignals(True)
        self._ratio.setValue(value)
        self._ratio.blockSignals(False)

    def set_tensor_split(self, shares: tuple[float, ...]) -> None:
        """Type in the shares of several devices."""
        if shares != self._settings.tensor_split:
            self._settings.set_tensor_split(shares)

    @property
    def ratio(self) -> float:
        """Return the r that is typed in, 0 = none."""
        return self._ratio.value()

    @property
    def devices(self) -> tuple[Device, ...]:
        """Return the devices the load may use."""
        return self._chooser.devices

    @property
    def request(self) -> LoadRequest:
        """Return the load as set, without n_gpu_layers and experts."""
        settings = self._settings
        margins = settings.margins_mib
        is_usual = all(mib == DEFAULT_TARGET_MIB for mib in margins)
        is_one = len(set(margins)) == 1
        return LoadRequest(
            tool=self._program.currentData(),
            ctx=self._ctx.currentData(),
            cache_type_k=self._type_k.currentData(),
            cache_type_v=self._type_v.currentData(),
            flash_attn=self._flash.currentData(),
            ubatch=self._ubatch.currentData(),
            batch=max(2048, self._ubatch.currentData()),
            parallel=self._slots.value() or None,
            split_mode=settings.split_mode,
            main_gpu=settings.main_gpu,
            tensor_split=settings.tensor_split,
            fit_target_mib=margins[0] if is_one and not is_usual else None,
            fit_targets_mib=() if is_one else margins,
            use_devices=self._chooser.uses_devices,
            device_ids=self._chooser.device_ids,
        )

    def _row(self, fields: tuple[tuple[str, QWidget], ...]) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.M)
        for caption, control in fields:
            row.addWidget(Field(caption, control), 1)
        return row

    def _make_controls(self) -> None:
        self._program = combo("program", tuple((tool.value, tool) for tool in Tool))
        self._chooser = DeviceChooser()
        self._ctx = Combo()
        self._ctx.setObjectName("context")
        self._slots = QSpinBox()
        self._slots.setObjectName("slots")
        self._slots.setRange(0, 64)
        self._slots.setSpecialValueText(self.tr("default"))
        types = tuple((name, name) for name in quants.CACHE_TYPES)
        self._type_k = combo("cacheTypeK", types)
        self._type_v = combo("cacheTypeV", types)
        for box in (self._type_k, self._type_v):
            box.setCurrentIndex(box.findData("f16"))
        self._flash = combo("flashAttention", tuple((s.value, s) for s in Switch))
        self._ubatch = combo("ubatch", tuple((str(n), n) for n in (128, 256, 512, 1024, 2048)))
        self._ubatch.setCurrentIndex(2)
        self._settings = DeviceSettings()
        self._ratio = QDoubleSpinBox()
        self._ratio.setObjectName("slowRatio")
        self._ratio.setRange(0, 200)
        self._ratio.setDecimals(1)
        self._ratio.setSuffix("×")
        self._ratio.setSpecialValueText(self.tr("not known"))
        for box in (self._program, self._ctx, self._type_k, self._type_v, self._flash,
                    self._ubatch):  # fmt: skip
            box.currentIndexChanged.connect(self.changed)
        self._slots.valueChanged.connect(self.changed)
        self._ratio.valueChanged.connect(self.changed)
        self._settings.changed.connect(self.changed)
        self._chooser.changed.connect(self._on_chosen)

    def _on_chosen(self) -> None:
        self._show_settings()
        self.changed.emit()

    def _show_settings(self) -> None:
        """Show the margin with the other settings; where a split is to be set, always."""
        self._settings.set_devices(self.devices)
        has_any = bool(self.devices)
        self._settings.setVisible(
            has_any and (self._toggle.isChecked() or self._settings.has_several)
        )
