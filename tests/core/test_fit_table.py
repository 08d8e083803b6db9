"""The table of what fits: its figures are the placement's, its verdicts follow from them."""

from dataclasses import replace

import pytest

from app.core.fit_table import Cell, FitRow, FitWish, Verdict, contexts_for, fit_rows
from app.core.machine import CpuKind, Device, DeviceKind, Host
from app.core.model import Model
from app.core.placement import place, prepare
from app.core.requant import requantised
from app.core.request import LoadRequest, Switch
from app.core.units import GIB, KIB, MIB
from tests.truth import models
from tests.truth.params import Params

EIGHT_B = models.build("llama-3.1-8b", "llama", "q4_K_M", models.LLAMA_8B)
GEMMA = models.build(
    "gemma3-12b",
    "gemma3",
    "q4_K_M",
    Params(L=48, e=3840, f=15360, h=16, hk=8, dk=256, v=262208, ctx=131072, swa=1024, tied=1),
)
HOST = Host(CpuKind.AVX2, 64 * GIB, 60 * GIB)
ONLY_FILE = FitWish(quantisations=(), contexts=(4096, 32768), build=11434)


def cuda(*free_gib: float) -> tuple[Device, ...]:
    """Return CUDA devices."""
    return tuple(
        Device(f"CUDA{i}", DeviceKind.CUDA, "", int(gib * GIB), int(gib * GIB), "test")
        for i, gib in enumerate(free_gib)
    )


def rows(
    *free_gib: float,
    model: Model = EIGHT_B,
    host: Host = HOST,
    request: LoadRequest | None = None,
    wish: FitWish = ONLY_FILE,
) -> tuple[FitRow, ...]:
    """Return the table."""
    return tuple(fit_rows(model, cuda(*free_gib), host, request or LoadRequest(), wish))


def cells(*free_gib: float, host: Host = HOST) -> tuple[Cell, ...]:
    """Return the cells of the file with an f16 cache."""
    return rows(*free_gib, host=host)[0].cells


@pytest.mark.parametrize("model", [EIGHT_B, GEMMA], ids=["full attention", "sliding window"])
@pytest.mark.parametrize("free", [(24.0,), (6.0,), (1.5,), (4.0, 5.0)], ids=str)
@pytest.mark.parametrize("cache_type", ["f16", "q8_0"])
def test_a_cell_has_the_bytes_of_the_placement(
    model: Model, free: tuple[float, ...], cache_type: str
) -> None:
    wish = replace(ONLY_FILE, cache_types=(cache_type,))
    for cell in rows(*free, model=model, wish=wish)[0].cells:
        request = LoadRequest(
            ngl=cell.ngl, ctx=cell.ctx, cache_type_k=cache_type, cache_type_v=cache_type
        )
        placed = place(prepare(model), cuda(*free), HOST, request, build=11434)
        held = placed.total(is_host=False).weights_bytes + placed.total(is_host=True).weights_bytes
        context = sum(row.context_bytes for row in placed.rows)
        assert cell.context_bytes == context
        if len(free) == 1 and cell.ngl:
            device = placed.rows[0]
            # the table's compute is a bound in closed form; rope factors have a copy on each side
            assert device.total_bytes - KIB <= cell.device_bytes
            assert cell.device_bytes <= device.high_bytes + device.compute_bytes
            host = placed.total(is_host=True)
            assert host.total_bytes + placed.output_bytes - KIB <= cell.host_bytes
        assert cell.device_bytes + cell.host_bytes >= held + context


def test_one_more_layer_would_not_fit() -> None:
    for cell in cells(4):
        assert cell.verdict is Verdict.LAYERS
        assert cell.device_bytes <= 3 * GIB
        request = LoadRequest(ngl=cell.ngl + 1, ctx=cell.ctx)
        placed = place(prepare(EIGHT_B), cuda(4), HOST, request, build=11434)
        assert placed.rows[0].high_bytes > 3 * GIB


def test_verdicts_go_from_whole_to_none() -> None:
    assert [cell.verdict for cell in cells(24)] == [Verdict.WHOLE] * 2
    assert [cell.verdict for cell in cells(7)] == [Verdict.WHOLE, Verdict.LAYERS]
    assert [cell.verdict for cell in cells(1)] == [Verdict.HOST] * 2
    assert [cell.verdict for cell in cells()] == [Verdict.HOST] * 2
    little = Host(CpuKind.AVX2, 4 * GIB, 3 * GIB)
    assert [cell.verdict for cell in cells(host=little)] == [Verdict.NO] * 2
    assert [cell.verdict for cell in cells(24, host=little)] == [Verdict.WHOLE] * 2


def test_the_largest_context_is_the_last_that_fits() -> None:
    row = rows(9)[0]
    largest = row.largest_whole_ctx
    assert largest is not None
    assert largest % 256 == 0
    for ctx, verdict in ((largest, Verdict.WHOLE), (largest + 256, Verdict.LAYERS)):
        wish = replace(ONLY_FILE, contexts=(ctx,))
        assert rows(9, wish=wish)[0].cells[0].verdict is verdict
    assert rows(1)[0].largest_whole_ctx is None
    assert rows(1)[0].largest_ctx == 32768


def test_a_larger_target_leaves_less_room() -> None:
    usual = cells(6)[0]
    careful = rows(6, wish=replace(ONLY_FILE, target_bytes=3 * GIB))[0].cells[0]
    assert careful.ngl < usual.ngl


def test_two_devices_hold_what_one_does_not() -> None:
    assert cells(5)[0].verdict is Verdict.LAYERS
    both = cells(5, 5)[0]
    assert both.verdict is Verdict.WHOLE
    assert both.device_bytes <= 8 * GIB


def test_experts_are_counted_that_must_stay_back() -> None:
    moe = models.build("qwen3-235b", "qwen3moe", "q4_K_M", models.QWEN3_235B)
    host = Host(CpuKind.AVX2, 256 * GIB, 250 * GIB)
    cell = rows(24, model=moe, host=host)[0].cells[0]
    assert cell.verdict is Verdict.LAYERS
    assert cell.n_cpu_moe is not None
    request = LoadRequest(n_cpu_moe=cell.n_cpu_moe, ctx=4096)
    placed = place(prepare(moe), cuda(24), host, request, build=11434)
    assert placed.rows[0].weights_bytes + placed.rows[0].context_bytes <= 23 * GIB
    assert rows(3, model=moe, host=host)[0].cells[0].n_cpu_moe is None
    assert cells(4)[0].n_cpu_moe is None  # no experts


def test_rows_are_the_file_and_then_other_quantisations() -> None:
    table = rows(24, wish=replace(ONLY_FILE, quantisations=("Q8_0", "Q4_0")))
    assert [(row.file_type, row.cache_type) for row in table[::3]] == [
        ("this file", "f16"),
        ("Q8_0", "f16"),
        ("Q4_0", "f16"),
    ]
    assert [row.cache_type for row in table[:3]] == ["f16", "q8_0", "q4_0"]
    assert [row.is_file for row in table] == [True] * 3 + [False] * 6
    other = requantised(EIGHT_B, "Q8_0")
    assert table[3].weights_bytes == other.tensor_bytes
    own = rows(24, model=other, wish=replace(ONLY_FILE, quantisations=("Q8_0", "Q4_0")))
    assert [row.file_type for row in own[::3]] == ["Q8_0", "Q4_0"]
    assert own[0].is_file


def test_the_file_stands_alone_when_its_quantisation_is_not_calculated() -> None:
    keys = {k.replace("llama.", "falcon."): value for k, value in EIGHT_B.keys.items()}
    falcon = Model("f.gguf", "falcon", 3, False, keys, EIGHT_B.tensors, EIGHT_B.parts)
    table = rows(24, model=falcon, wish=replace(ONLY_FILE, quantisations=("Q8_0",)))
    assert {row.file_type for row in table} == {"this file"}


def test_says_why_there_is_no_verdict() -> None:
    off = LoadRequest(flash_attn=Switch.OFF)
    table = rows(24, request=off)
    assert table[0].cells[0].verdict is Verdict.WHOLE
    assert table[1].cells[0].verdict is Verdict.UNKNOWN
    assert "needs flash attention" in table[1].cells[0].reason
    assert table[1].largest_ctx is None


def test_says_what_could_not_be_looked_at() -> None:
    unknown = (Device("CUDA0", DeviceKind.CUDA, "", None, None, "test"),)
    cell = next(fit_rows(EIGHT_B, unknown, HOST, LoadRequest(), ONLY_FILE)).cells[0]
    assert cell.verdict is Verdict.HOST
    assert cell.reason == "The free memory of CUDA0 is not known."
    blind = cells(24, host=Host())[0]
    assert blind.verdict is Verdict.WHOLE
    assert "system memory is not known" in blind.reason


@pytest.mark.parametrize(
    ("trained", "shown"),
    [
        (4096, (2048, 4096)),
        (32768, (2048, 4096, 8192, 16384, 32768)),
        (1_048_576, (8192, 16384, 32768, 65536, 131072, 262144, 524288, 1048576)),
        (5000, (2048, 4096, 5000)),
        (0, (4096, 8192, 16384, 32768, 65536, 131072, 262144, 524288)),
    ],
)
def test_shows_contexts_up_to_the_trained_one(trained: int, shown: tuple[int, ...]) -> None:
    assert contexts_for(trained) == shown


def test_the_cache_on_the_host_takes_nothing_from_the_device() -> None:
    request = LoadRequest(kv_offload=False)
    table = rows(7, request=request)
    assert [cell.verdict for cell in table[0].cells] == [Verdict.WHOLE] * 2
    first, second = table[0].cells
    assert second.device_bytes - first.device_bytes < 64 * MIB  # masks alone
