"""r of the settings: there only when it was typed in."""

from app.core.reading import Kind
from app.work.settings import SLOW_RATIO, Settings
from app.work.typed_ratio import typed_ratio


def test_is_unknown_when_nothing_was_typed_in() -> None:
    assert typed_ratio(Settings()) is None


def test_is_what_was_typed_in() -> None:
    settings = Settings()
    settings.set(SLOW_RATIO, 12.0)
    r = typed_ratio(settings)
    assert r is not None
    assert (r.value, r.kind) == (12.0, Kind.TYPED)
