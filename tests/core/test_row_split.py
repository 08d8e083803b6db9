"""Split mode row: what is cut, where it lies, and which builds refuse."""

from dataclasses import replace

import pytest

from app.core.errors import UserError
from app.core.machine import CpuKind, Device, DeviceKind, Host
from app.core.placement import Placement, place, prepare
from app.core.quants import BY_NAME, n_bytes
from app.core.request import LoadRequest, SplitMode
from app.core.units import GIB
from tests.truth import models
from tests.truth.params import Params

HOST = Host(CpuKind.NONE, 8 * GIB, 6 * GIB)
# a matrix of 640 rows is cut at 128s, and a row of 640 values is filled up to 1024
PARAMS = Params(L=4, e=640, f=1280, h=5, hk=5, v=1280, ctx=1024)
NORM = 4 * 640
OUTPUT = "q8_0"  # cut at 64s
CARDS = tuple(
    Device(f"SYCL{i}", DeviceKind.SYCL, "", size * GIB, size * GIB, "test")
    for i, size in enumerate((1, 3))
)


def placed(
    mode: SplitMode,
    *shares: float,
    kind: DeviceKind = DeviceKind.SYCL,
    build: int | None = None,
    arch: str = "llama",
    params: Params = PARAMS,
) -> Placement:
    """Place a model of q4_0 blocks on two devices."""
    devices = tuple(replace(card, kind=kind) for card in CARDS)
    request = LoadRequest(split_mode=mode, tensor_split=shares)
    model = models.build("small", arch, "q4_0", params)
    return place(prepare(model), devices, HOST, request, build=build)


def matrix(rows: int) -> int:
    """Return the bytes of some rows of a matrix of 640 columns, filled up."""
    return of_q4(rows * 640 + 384)


def of_q4(values: int) -> int:
    """Return the bytes of some values."""
    return n_bytes(BY_NAME["q4_0"].id, values)


@pytest.mark.parametrize("shares", [(), (1.0, 3.0)])
def test_rows_follow_the_split_or_the_memory_of_the_cards(shares: tuple[float, ...]) -> None:
    found = placed(SplitMode.ROW, *shares)
    # a quarter of the devices' layers is one of five: the rest of its block, its cache, stay there
    layer = placed(SplitMode.LAYER, *shares)
    homes = [place.device for place in found.layers]
    assert homes == [place.device for place in layer.layers]
    for one, other in zip(found.rows, layer.rows, strict=True):
        assert one.context_bytes == other.context_bytes
        assert one.compute_bytes <= other.compute_bytes  # only split mode layer pipelines
    first, second = found.rows[:2]
    # of q, k, v, o and down 128 rows of 640; of gate and up 256 of 1280, of the output 320
    down = of_q4(128 * 1280 + 256)
    blocks = 4 * (4 * matrix(128) + 2 * matrix(256) + down) + 2 * homes.count("SYCL0") * NORM
    output = n_bytes(BY_NAME[OUTPUT].id, 320 * 640 + 384)
    assert first.weights_bytes == blocks + output
    # nothing is lost, and each cut adds the filling of one row
    whole = sum(row.weights_bytes for row in layer.rows)
    assert 0 < sum(row.weights_bytes for row in found.rows) - whole < 0.01 * whole
    assert first.weights_bytes < second.weights_bytes


def test_says_that_the_figures_are_not_verified() -> None:
    text = " ".join(placed(SplitMode.ROW).not_calculated)
    assert "Split mode row follows llama.cpp's source and is not verified" in text
    assert "CUDA" not in text
    assert "Split mode row" not in " ".join(placed(SplitMode.LAYER).not_calculated)


def test_experts_stay_with_their_layer() -> None:
    params = replace(PARAMS, nx=8, nu=2, fx=640)
    row = placed(SplitMode.ROW, arch="qwen3moe", params=params)
    layer = placed(SplitMode.LAYER, arch="qwen3moe", params=params)
    experts = 8 * 3 * matrix(640)
    for one, other in zip(row.rows[:2], layer.rows[:2], strict=True):
        assert abs(one.weights_bytes - other.weights_bytes) < experts


@pytest.mark.parametrize("kind", [DeviceKind.CUDA, DeviceKind.ROCM])
def test_new_builds_refuse_it_on_cuda(kind: DeviceKind) -> None:
    with pytest.raises(UserError, match="Split mode row does not work on SYCL0") as caught:
        placed(SplitMode.ROW, kind=kind, build=11434)
    assert "11434" in caught.value.detail
    assert placed(SplitMode.ROW, build=11434).rows  # SYCL still has it


@pytest.mark.parametrize(("build", "is_warned"), [(None, True), (9800, True), (9000, False)])
def test_old_and_unknown_builds_are_calculated(build: int | None, *, is_warned: bool) -> None:
    found = placed(SplitMode.ROW, kind=DeviceKind.CUDA, build=build)
    text = " ".join(found.not_calculated)
    assert ("June 2026 and later refuses" in text) is is_warned


def test_a_matrix_stays_whole_where_its_own_device_would_hold_no_row() -> None:
    row = placed(SplitMode.ROW, 1.0, 1000.0)
    layer = placed(SplitMode.LAYER, 1.0, 1000.0)
    assert row.rows[0].weights_bytes == layer.rows[0].weights_bytes


def test_one_device_holds_all_rows() -> None:
    for shares in ((1.0,), (0.0, 1.0)):
        row, layer = placed(SplitMode.ROW, *shares), placed(SplitMode.LAYER, *shares)
        assert [one.weights_bytes for one in row.rows] == [one.weights_bytes for one in layer.rows]
