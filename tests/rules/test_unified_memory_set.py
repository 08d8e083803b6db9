"""The variable is a fault only beside a device that holds more than it has."""

from dataclasses import replace

from app.core.evidence import Evidence
from app.core.log import Role
from app.rules.one_layer_too_many import UNIFIED
from app.rules.unified_memory_set import check, silent
from tests.rules import made


def load(mib: float, value: str = "1") -> Evidence:
    """Make evidence of a card of 12 GiB."""
    told = made.story(buffers=(made.buffer("CUDA0", Role.WEIGHTS, mib, 100),))
    return replace(made.seen(told, made.listed("CUDA0")), variables=((UNIFIED, value),))


def test_unsets_it_when_the_card_is_overfull() -> None:
    finding = check(load(14000))
    assert finding is not None
    assert "Unset" in finding.fix.text
    assert finding.cites[0].source == "environment"


def test_is_silent_when_all_fits_or_it_is_off() -> None:
    assert check(load(9000)) is None
    assert silent(load(9000)).endswith("the load needs 9,000 MiB of 12,288 MiB on CUDA0")
    assert check(load(14000, "0")) is None
