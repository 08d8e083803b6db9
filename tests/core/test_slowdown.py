"""The law of slowdown: its share, its ranges, and where no figure may be shown."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core import slowdown
from app.core.machine import Device, DeviceKind
from app.core.reading import Estimate, Kind
from app.core.slowdown import predict

CARD = Device("CUDA0", DeviceKind.CUDA, "", None, None, "test")
LARGE, SMALL = 4_000_000_000, 300_000_000
SHARES = st.floats(0, 1)


def measured(value: float) -> Estimate:
    """Return an r without an interval, so that only the law's own error is left."""
    return Estimate(value, value, value, "test", Kind.MEASURED)


def test_predicts_with_three_quarters_of_bytes_and_one_of_layers() -> None:
    found = predict(0.4, 0.6, measured(8), read_bytes=LARGE, devices=(CARD,)).slowdown
    assert found is not None
    assert found.value == pytest.approx(1 + 0.45 * 7)
    assert found.low <= 1 + 0.4 * 7 <= found.high  # the plain form is in the range


@pytest.mark.parametrize(
    ("read_bytes", "below", "above"), [(LARGE, 0.10, 0.10), (SMALL, 0.25, 0.10)]
)
def test_the_range_is_of_rates_when_both_ends_are_known(
    read_bytes: int, below: float, above: float
) -> None:
    for r in (measured(8), Estimate.typed(8)):
        found = predict(0.5, 0.5, r, read_bytes=read_bytes, devices=(CARD,)).slowdown
        assert found is not None
        rate = 1 / found.value
        assert 1 / found.high == pytest.approx(rate * (1 - below))
        assert 1 / found.low == pytest.approx(rate * (1 + above))


def test_a_table_range_closes_towards_the_device() -> None:
    r = slowdown.table_ratio(10, 1.08, "test")
    widths = []
    for f in (0.9, 0.5, 0.1, 0.01):
        found = predict(f, f, r, read_bytes=LARGE, devices=(CARD,)).slowdown
        assert found is not None
        assert found.low == pytest.approx(slowdown.law(f, 7.5))
        assert found.high == pytest.approx(slowdown.law(f, 13.5))
        widths.append(found.high / found.low)
    assert widths == sorted(widths, reverse=True)


@pytest.mark.parametrize(
    ("device", "r", "says"),
    [
        (replace(CARD, is_integrated=True), 8.0, "shares the system memory"),
        (replace(CARD, is_software=True), 8.0, "shares the system memory"),
        (CARD, 2.0, "With r below 2.5"),
        (CARD, 0.8, "the device is the slower end"),
    ],
)
def test_refuses_a_figure_between_the_ends(device: Device, r: float, says: str) -> None:
    found = predict(0.5, 0.5, measured(r), read_bytes=LARGE, devices=(device,))
    assert found.slowdown is None
    assert says in found.reason
    # nothing on the device is an end, and has a figure
    assert predict(1, 1, measured(r), read_bytes=LARGE, devices=(device,)).slowdown is not None


def test_asks_for_r_when_it_is_not_known() -> None:
    assert "r is not known" in predict(0.5, 0.5, None, read_bytes=LARGE).reason


@given(SHARES, SHARES, st.floats(2.6, 100))
def test_the_range_holds_the_value_and_stays_above_nothing(
    f: float, layers: float, r: float
) -> None:
    found = predict(f, layers, measured(r), read_bytes=LARGE, devices=(CARD,)).slowdown
    assert found is not None
    assert 0 < found.low <= found.value <= found.high
