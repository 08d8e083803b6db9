"""The layer map counts as the chosen build does, and a card keeps memory for its driver."""

import pytest

from app.core.assign import assign
from app.core.cancel import Cancel
from app.core.machine import Device, DeviceKind, Host
from app.core.placement import Prepared, prepare
from app.core.reading import Estimate
from app.core.request import LoadRequest
from app.core.slowdown import NO_DEVICE
from app.core.units import GIB
from app.ui.models import offload_model
from app.ui.models.offload_model import Choice, OffloadView
from tests.truth import models


class Never(Cancel):
    """A flag that is never raised."""

    def check(self) -> None:
        """Go on."""


@pytest.fixture
def eight_b() -> Prepared:
    """Return a model of 32 blocks."""
    return prepare(models.build("llama-3.1-8b", "llama", "q4_K_M", models.LLAMA_8B))


def device(kind: DeviceKind) -> Device:
    """Return a device of 24 GiB."""
    return Device(f"{kind.name}0", kind, "", 24 * GIB, 24 * GIB, "test")


def shown(model: Prepared, kind: DeviceKind, build: int) -> OffloadView:
    """Return the view of ten layers on a device."""
    choice = Choice(LoadRequest(ngl=10, ctx=4096), (device(kind),), Host(), None, build=build)
    return offload_model.offload_view(model, choice, "model.gguf")


@pytest.mark.parametrize("build", [6699, 11434])
def test_a_click_on_a_layer_asks_for_as_many_as_reach_it(eight_b: Prepared, build: int) -> None:
    total, card = eight_b.shape.layers_total, (device(DeviceKind.CUDA),)
    for cell in range(1, total + 1):
        ngl = offload_model.ngl_to_reach(cell, eight_b.shape, build)
        for n, is_there in ((ngl, True), (ngl - 1, False)):
            _ngl, homes = assign(total, card, Host(), LoadRequest(ngl=n), build)
            assert (homes[cell - 1] is not None) is is_there


@pytest.mark.parametrize(("build", "turn"), [(6699, "last"), (11434, "first")])
def test_the_number_says_when_the_output_layer_goes(
    eight_b: Prepared, build: int, turn: str
) -> None:
    view = shown(eight_b, DeviceKind.CUDA, build)
    assert f"the output layer is the {turn} to go there" in view.ngl.caption
    assert (view.placed.layers[-1].device is None) is (turn == "last")


def test_the_bar_of_a_card_has_a_part_for_its_driver(eight_b: Prepared) -> None:
    with_driver, without = (
        {segment.name: segment for segment in shown(eight_b, kind, 11434).bars[0].bar.segments}
        for kind in (DeviceKind.CUDA, DeviceKind.RPC)
    )
    assert with_driver["Driver"].text == "500 MiB"
    assert "unaccounted memory in public logs" in with_driver["Driver"].source
    assert "Driver" not in without


def test_promises_no_slowdown_without_a_device_though_r_was_measured(eight_b: Prepared) -> None:
    request = LoadRequest(ctx=4096, use_devices=False)
    choice = Choice(request, (), Host(), Estimate.typed(4.0), build=11434)
    view = offload_model.offload_view(eight_b, choice, "model.gguf")
    assert view.prediction.slowdown is None and view.prediction.reason == NO_DEVICE
    points = offload_model.curve(eight_b, choice, Never())
    assert {point.value for point in points} == {None}
    assert offload_model.plot_note(points, choice) == NO_DEVICE
