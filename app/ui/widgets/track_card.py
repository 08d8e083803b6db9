"""What the computer did while a model was measured, as charts: from the evidence, not live."""

from PySide6.QtWidgets import QWidget

from app.core.track import Track
from app.ui.models import live_model
from app.ui.models.event_model import EventRow
from app.ui.models.live_history import History
from app.ui.widgets.card import Card, dim_label
from app.ui.widgets.event_list import EventList
from app.ui.widgets.strip_groups import StripGroups


class TrackCard(Card):
    """Shows one measurement; hidden while there is none."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(self.tr("While it was measured"), parent)
        self._track: Track | None = None
        self._source = dim_label(wrap=False)
        self.head.addWidget(self._source)
        self._events = EventList("trackEvents", self.tr("No limit was reached meanwhile."))
        self._strips = StripGroups()
        self.body.addWidget(self._events)
        self.body.addWidget(self._strips)
        self.hide()

    def show_track(self, track: Track | None) -> None:
        """Show another measurement, None = there is none."""
        if track == self._track:
            return
        self._track = track
        self.setVisible(track is not None)
        if track is None:
            return
        history = History.of_track(track)
        self._source.setText(self.tr("{:.0f} s, {}").format(history.span_s, track.source))
        self._strips.show_groups(live_model.groups(history))
        self._events.model.show_rows(
            tuple(
                EventRow(self.tr("at {:.0f} s").format(event.at_s), event.text, event.is_normal)
                for event in reversed(track.events)
            )
        )
