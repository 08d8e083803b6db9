"""Strip charts under their headings, three in a row; made anew only when there are others."""

from PySide6.QtWidgets import QGridLayout, QLabel, QVBoxLayout, QWidget

from app.ui import theme
from app.ui.models.live_history import Group
from app.ui.widgets.strip_chart import StripChart

_COLUMNS = 3


class StripGroups(QWidget):
    """Shows groups of strips."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shape: tuple[tuple[str, int], ...] = ()
        self._sections: list[_Section] = []
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(theme.L)

    def show_groups(self, groups: tuple[Group, ...]) -> None:
        """Show newer values."""
        shape = tuple((group.title, len(group.strips)) for group in groups)
        if shape != self._shape:
            self._shape = shape
            self._arrange(groups)
        for section, group in zip(self._sections, groups, strict=True):
            section.show_group(group)

    def _arrange(self, groups: tuple[Group, ...]) -> None:
        kept = {section.key: section for section in self._sections}
        self._sections = []
        for place, group in enumerate(groups):
            section = kept.pop((group.title, len(group.strips)), None)
            if section is None:
                section = _Section(group, self)
            self._layout.removeWidget(section)
            self._layout.insertWidget(place, section)
            section.show()
            self._sections.append(section)
        for gone in kept.values():
            self._layout.removeWidget(gone)
            gone.hide()
            gone.deleteLater()


class _Section(QWidget):
    """A heading and its strips."""

    def __init__(self, group: Group, parent: QWidget) -> None:
        super().__init__(parent)
        self.key = (group.title, len(group.strips))
        self._title = QLabel(group.title)
        self._title.setObjectName("groupTitle")
        self._title.setStyleSheet("font-weight: 600;")
        self._title.setWordWrap(True)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(theme.XL)
        grid.setVerticalSpacing(theme.M)
        grid.addWidget(self._title, 0, 0, 1, _COLUMNS)
        self._charts = []
        for number, strip in enumerate(group.strips):
            chart = StripChart(f"{group.title}: {strip.title}", self)
            grid.addWidget(chart, 1 + number // _COLUMNS, number % _COLUMNS)
            self._charts.append(chart)
        for column in range(_COLUMNS):
            grid.setColumnStretch(column, 1)

    def show_group(self, group: Group) -> None:
        """Show newer values."""
        self._title.setToolTip(group.detail)
        for chart, strip in zip(self._charts, group.strips, strict=True):
            chart.show_strip(strip, group.title)
