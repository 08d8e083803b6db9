"""Whether one more layer fits is calculated from the header, or said to be unknown."""

from dataclasses import replace

from app.core.evidence import Evidence
from app.core.machine import Device, DeviceKind, Machine
from app.core.units import GIB, MIB
from app.rules import room
from tests.core.small_models import llama


def with_free(n_bytes: int | None) -> Evidence:
    """Return evidence of a card with so much free memory."""
    card = Device("CUDA0", DeviceKind.CUDA, "card", 24 * GIB, n_bytes, "list")
    return Evidence(model=llama(), machine=Machine(devices=(card,)))


def test_more_layers_need_more_room() -> None:
    assert room.fits(with_free(24 * GIB), 3) is True
    assert room.fits(with_free(4 * GIB), 1) is True
    assert room.fits(with_free(4 * GIB), 3) is False


def test_margin_stays_free_when_layers_would_fit_to_the_last_byte() -> None:
    smallest = next(n for n in range(64) if room.fits(with_free(n * 512 * MIB), 2))
    assert room.fits(with_free(smallest * 512 * MIB - room.MARGIN_BYTES), 2) is False


def test_is_unknown_when_a_part_of_the_evidence_is_missing() -> None:
    assert room.fits(Evidence(), 3) is None
    assert room.fits(with_free(None), 3) is None
    assert room.fits(replace(with_free(24 * GIB), machine=Machine()), 3) is None
    no_text_model = replace(llama(), keys={}, tensors=())
    assert room.fits(replace(with_free(24 * GIB), model=no_text_model), 3) is None
