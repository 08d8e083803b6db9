"""The form for a model that is known by its sizes only."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QDoubleSpinBox,
    QGridLayout,
    QHBoxLayout,
    QPushButton,
    QSpinBox,
    QWidget,
)

from app.core import described
from app.core.described import Description
from app.core.fit_table import QUANTISATIONS
from app.ui import theme
from app.ui.widgets.card import Card, dim_label
from app.ui.widgets.field import Field, combo

# Llama 3.1 8B, as published: a start to change from
_START = Description(8_030_000_000, 32, 4096, 32, 8, 128_256, 131_072)
_COLUMNS = 5


class SizeForm(Card):
    """Emits the description and the quantisation when the button is pressed."""

    described = Signal(object, str)  # Description, file type

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(self.tr("No file? Describe a model by its sizes"), parent)
        self._open = QPushButton(self.tr("Describe…"))
        self._open.setObjectName("describeModel")
        self._open.setCheckable(True)
        self.head.addWidget(self._open)
        self._form = QWidget()
        grid = QGridLayout(self._form)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setSpacing(theme.M)
        self._make_controls()
        fields = (
            (self.tr("Parameters, billions"), self._parameters),
            (self.tr("Layers (blocks)"), self._blocks),
            (self.tr("Embedding length"), self._embedding),
            (self.tr("Heads"), self._heads),
            (self.tr("KV heads"), self._kv_heads),
            (self.tr("Vocabulary"), self._vocabulary),
            (self.tr("Trained context"), self._ctx),
            (self.tr("Experts (0: dense)"), self._experts),
            (self.tr("Experts used per token"), self._used),
            (self.tr("Quantisation"), self._type),
        )
        for i, (caption, control) in enumerate(fields):
            grid.addWidget(Field(caption, control), i // _COLUMNS, i % _COLUMNS)
        row = QHBoxLayout()
        self._note = dim_label(
            self.tr(
                "Its config.json has these figures. The feed-forward width follows from the "
                "parameters; the result holds for a plain transformer."
            )
        )
        self._button = QPushButton(self.tr("Show what fits"))
        self._button.setObjectName("useSizes")
        self._button.setProperty("primary", True)
        self._button.clicked.connect(self._on_button)
        row.addWidget(self._note, 1)
        row.addWidget(self._button)
        grid.addLayout(row, 2, 0, 1, _COLUMNS)
        self.body.addWidget(self._form)
        self._form.hide()
        self._open.toggled.connect(self._form.setVisible)

    @property
    def description(self) -> Description:
        """Return the sizes as set."""
        return Description(
            parameters=described.parameters_of(self._parameters.value()),
            blocks=self._blocks.value(),
            embedding=self._embedding.value(),
            heads=self._heads.value(),
            kv_heads=self._kv_heads.value(),
            vocabulary=self._vocabulary.value(),
            ctx_train=self._ctx.value(),
            experts=self._experts.value(),
            experts_used=self._used.value() if self._experts.value() else 0,
        )

    def show_problem(self, text: str) -> None:
        """Show what is wrong with the sizes, "" = nothing."""
        self._note.setObjectName("errorText" if text else "dim")
        self._note.style().polish(self._note)
        if text:
            self._note.setText(text)

    def _on_button(self) -> None:
        self.described.emit(self.description, self._type.currentData())

    def _make_controls(self) -> None:
        self._parameters = QDoubleSpinBox()
        self._parameters.setObjectName("sizeParameters")
        self._parameters.setRange(0.01, 4000)
        self._parameters.setDecimals(2)
        self._parameters.setValue(described.billions_of(_START.parameters))
        self._blocks = _spin("sizeBlocks", 1, 512, _START.blocks)
        self._embedding = _spin("sizeEmbedding", 32, 65536, _START.embedding)
        self._heads = _spin("sizeHeads", 1, 1024, _START.heads)
        self._kv_heads = _spin("sizeKvHeads", 1, 1024, _START.kv_heads)
        self._vocabulary = _spin("sizeVocabulary", 32, 1_000_000, _START.vocabulary)
        self._ctx = _spin("sizeContext", 256, 10_000_000, _START.ctx_train)
        self._experts = _spin("sizeExperts", 0, 1024, 0)
        self._used = _spin("sizeExpertsUsed", 1, 256, 8)
        self._type = combo("sizeType", tuple((name, name) for name in QUANTISATIONS))
        self._type.setCurrentIndex(self._type.findData("Q4_K_M"))


def _spin(name: str, least: int, most: int, value: int) -> QSpinBox:
    box = QSpinBox()
    box.setObjectName(name)
    box.setRange(least, most)
    box.setValue(value)
    return box
