"""r that the user typed in; it goes before what was measured."""

from app.core.reading import Estimate
from app.work.settings import SLOW_RATIO, Settings


def typed_ratio(settings: Settings) -> Estimate | None:
    """Return r from the settings, None when nothing was typed in."""
    typed = settings.get(SLOW_RATIO)
    return Estimate.typed(typed, "typed in (settings)") if typed > 0 else None
