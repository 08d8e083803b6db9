"""The table of facts as a Qt model: headings, below each its facts with value, source, state."""

from dataclasses import dataclass

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QFont

from app.core import fact_words
from app.core.doubts import doubts
from app.core.machine import Machine, MachineFact

Index = QModelIndex | QPersistentModelIndex
MISSING_ROLE = Qt.ItemDataRole.UserRole + 1  # True where the value is a reason
COLUMNS = ("Fact", "Value", "Source", "State")
_VALUE = 1
_HEADING = 0  # internal id of a heading; a fact's is its heading's row + 1


@dataclass(frozen=True, slots=True)
class FactGroup:
    """A heading and the facts below it."""

    heading: str
    facts: tuple[MachineFact, ...]
    doubts: tuple[str, ...] = ()  # why a fact cannot be right, "" = nothing speaks against it


def matching(machine: Machine | None, wanted: str) -> tuple[FactGroup, ...]:
    """Return the facts in which each of the words occurs, under their headings."""
    if machine is None:
        return ()
    words = wanted.lower().split()
    doubtful = doubts(machine)
    found = []
    for heading, facts in fact_words.groups(machine):
        kept = tuple(fact for fact in facts if _holds(heading, fact, words))
        if kept:
            marks = tuple(doubtful.get(fact.path, "") for fact in kept)
            found.append(FactGroup(heading, kept, marks))
    return tuple(found)


def fact_text(fact: MachineFact) -> str:
    """Return all that is known of one fact, for reading aloud and for copying."""
    exact = fact_words.exact(fact)
    parts = [f"{fact_words.title(fact.path)}: {fact_words.value(fact)}"]
    if exact:
        parts[0] += f" ({exact})"
    if fact.reading.source:
        parts.append(f"Source: {fact.reading.source}")
    if fact.reading.value is None:
        parts.append(f"State: {fact_words.STATES[fact.reading.state]}")
    how = fact_words.how_to_get(fact)
    if how:
        parts.append(f"How to get it: {how}")
    return "\n".join(parts)


class FactModel(QAbstractItemModel):
    """Two levels: headings, and facts below them."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._groups: tuple[FactGroup, ...] = ()

    def show_groups(self, groups: tuple[FactGroup, ...]) -> None:
        """Show other facts."""
        self.beginResetModel()
        self._groups = groups
        self.endResetModel()

    def fact(self, index: Index) -> MachineFact | None:
        """Return the fact of a row, None for a heading."""
        if not index.isValid() or index.internalId() == _HEADING:
            return None
        return self._groups[index.internalId() - 1].facts[index.row()]

    def index(self, row: int, column: int, parent: Index = QModelIndex()) -> QModelIndex:  # noqa: B008
        """Return the index of a heading or of a fact."""
        if not self.hasIndex(row, column, parent):
            return QModelIndex()
        return self.createIndex(row, column, parent.row() + 1 if parent.isValid() else _HEADING)

    def parent(self, index: Index = QModelIndex()) -> QModelIndex:  # type: ignore[override]  # noqa: B008
        """Return a fact's heading; Qt has a second parent() without argument."""
        if not index.isValid() or index.internalId() == _HEADING:
            return QModelIndex()
        return self.createIndex(index.internalId() - 1, 0, _HEADING)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        """Return the number of headings, or of the facts below one."""
        if not parent.isValid():
            return len(self._groups)
        if parent.internalId() != _HEADING or parent.column() > 0:
            return 0
        return len(self._groups[parent.row()].facts)

    def columnCount(self, _parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        """Return the number of columns."""
        return len(COLUMNS)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """Return a column's title."""
        if orientation is Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return COLUMNS[section]
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return texts; a fact's tooltip has all that is known of it."""
        if not index.isValid():
            return None
        fact = self.fact(index)
        if fact is None:
            return self._heading(index, role)
        if role == Qt.ItemDataRole.DisplayRole:
            return _texts(fact, self._doubt(index))[index.column()]
        if role == Qt.ItemDataRole.ToolTipRole:
            return fact_text(fact)
        if role == MISSING_ROLE:
            is_known = fact.reading.value is not None and not self._doubt(index)
            return not is_known and index.column() >= _VALUE
        return None

    def _doubt(self, index: Index) -> str:
        group = self._groups[index.internalId() - 1]
        return group.doubts[index.row()] if group.doubts else ""

    def _heading(self, index: Index, role: int) -> object:
        if index.column() > 0:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._groups[index.row()].heading
        if role == Qt.ItemDataRole.FontRole:
            font = QFont()
            font.setWeight(QFont.Weight.DemiBold)
            return font
        return None


def _texts(fact: MachineFact, doubt: str = "") -> tuple[str, str, str, str]:
    reading = fact.reading
    mark = f"Not plausible: {doubt}." if doubt else ""
    parts = (fact_words.value(fact), mark, fact_words.how_to_get(fact))
    return (
        fact_words.title(fact.path),
        "\n".join(part for part in parts if part),
        reading.source,
        "not plausible" if doubt else fact_words.STATES[reading.state],
    )


def _holds(heading: str, fact: MachineFact, words: list[str]) -> bool:
    text = " ".join((heading, fact.path, *_texts(fact))).lower()
    return all(word in text for word in words)
