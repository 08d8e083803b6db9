"""What the chosen line of a log means, as texts."""

from app.core import log_words, units
from app.core.log import LogSummary
from app.ui.models import log_titles
from app.ui.models.log_model import EvidenceLine
from app.ui.widgets.meaning_card import Meaning


def meaning_of(entry: EvidenceLine, log: LogSummary) -> Meaning:
    """Return what a line says and means in its load; several facts follow each other."""
    load = log.load_at(entry.line)
    place = f"Line {units.count(entry.line)}"
    if load is not None and len(log.loads) > 1:
        place += f", load {log.loads.index(load) + 1} of {len(log.loads)}"
    texts = dict.fromkeys(log_words.explain(event, load) for event in entry.events)
    return Meaning(entry.mark, place, log_titles.title(entry.events[0]), " ".join(texts))
