"""What llama.cpp chooses by itself, on small and on large models (more in tests/truth)."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.beside import Companion, Kind
from app.core.errors import UserError
from app.core.fit import fit
from app.core.fit_result import FitResult
from app.core.machine import CpuKind, Device, DeviceKind, Host
from app.core.model import Model, Tensor
from app.core.placement import place, prepare
from app.core.request import LoadRequest, SplitMode, Tool, targets_mib
from app.core.units import GIB, MIB
from tests.truth import models
from tests.truth.params import Params

BUILD = 11434
EIGHT_B = prepare(models.build("llama-3.1-8b", "llama", "q4_K_M", models.LLAMA_8B))
MOE = prepare(models.build("qwen3-235b", "qwen3moe", "q4_K_M", models.QWEN3_235B))
HOST = Host(CpuKind.AVX2, 256 * GIB, 250 * GIB)


def devices(*free_gib: float) -> tuple[Device, ...]:
    """Return remote devices, whose compute buffers are known best."""
    return tuple(
        Device(f"RPC{i}", DeviceKind.RPC, "", int(gib * GIB), int(gib * GIB), "test")
        for i, gib in enumerate(free_gib)
    )


def fitted(request: LoadRequest, *free_gib: float, host: Host = HOST) -> FitResult:
    """Fit the 8B model."""
    return fit(EIGHT_B, devices(*free_gib), host, request, BUILD)


def lines(result: FitResult) -> str:
    """Return the log lines as one text."""
    return "\n".join(step.log_line for step in result.steps)


def test_changes_nothing_when_all_fits() -> None:
    found = fitted(LoadRequest(ctx=8192), 24)
    assert (found.ngl, found.layers, found.ctx, found.refused) == (None, 33, 8192, "")
    assert "MiB of free device memory, no changes needed" in lines(found)


def test_shortens_the_context_first_and_keeps_all_layers() -> None:
    found = fitted(LoadRequest(), 12)
    assert found.layers == 33
    assert 4096 < found.ctx < 131_072
    assert found.ctx % 256 == 0
    assert "entire model can be fit by reducing context" in lines(found)
    placed = place(EIGHT_B, devices(12), HOST, found.request, dry_pass=True, build=BUILD)
    left = 12 * GIB - placed.total(is_host=False).total_bytes
    assert GIB <= left < GIB + 64 * MIB  # as close to the target as 256 cells allow


def test_moves_layers_when_the_shortest_context_is_not_enough() -> None:
    found = fitted(LoadRequest(), 4)
    assert found.ctx == 4096
    assert found.ngl is not None
    assert 0 < found.ngl < 33
    for ngl, is_enough in ((found.ngl, True), (found.ngl + 1, False)):
        request = replace(found.request, ngl=ngl)
        placed = place(EIGHT_B, devices(4), HOST, request, dry_pass=True, build=BUILD)
        assert (placed.total(is_host=False).total_bytes <= 3 * GIB) is is_enough


def test_keeps_a_context_that_was_asked_for() -> None:
    assert fitted(LoadRequest(ctx=32768), 8).ctx == 32768
    assert "context size set by user to 32768" in lines(fitted(LoadRequest(ctx=32768), 8))
    full = fitted(LoadRequest(ctx=0), 8)
    assert full.ctx == 131_072
    assert "user has requested full context size of 131072" in lines(full)


@pytest.mark.parametrize(
    ("request_", "free", "reason"),
    [
        (LoadRequest(ngl=30), (4,), "n_gpu_layers already set by user to 30, abort"),
        (LoadRequest(ngl=-2), (4,), "n_gpu_layers already set by user to -2, abort"),
        (LoadRequest(tensor_split=(1, 1)), (2, 2), "tensor_split already set by user, abort"),
        (
            LoadRequest(overrides=(("ffn_up", "CPU"),)),
            (3,),
            "tensor_buft_overrides already set by user, abort",
        ),
    ],
)
def test_refuses_and_keeps_the_context_it_had_shortened(
    request_: LoadRequest, free: tuple[float, ...], reason: str
) -> None:
    found = fitted(request_, *free)
    assert found.refused.endswith(reason)
    assert found.ctx == 4096
    assert found.request.ngl == request_.ngl
    assert f"failed to fit params to free device memory: {found.refused}" in lines(found)


def test_refuses_to_choose_layers_when_rows_are_split() -> None:
    cards = tuple(replace(device, kind=DeviceKind.SYCL) for device in devices(2, 2))
    found = fit(EIGHT_B, cards, HOST, LoadRequest(split_mode=SplitMode.ROW), BUILD)
    reason = "changing weight allocation for LLAMA_SPLIT_MODE_ROW not implemented, abort"
    assert found.refused == reason


def test_says_that_rows_cannot_be_split_over_remote_devices() -> None:
    with pytest.raises(UserError, match="Split mode row does not work on RPC0"):
        fitted(LoadRequest(split_mode=SplitMode.ROW), 2, 2)


def test_shortening_alone_succeeds_even_with_a_number_of_layers() -> None:
    found = fitted(LoadRequest(ngl=99), 12)
    assert found.refused == ""
    assert found.layers == 33


def test_without_a_device_the_hosts_total_memory_counts() -> None:
    enough = fitted(LoadRequest())
    assert "MiB of system memory, no changes needed" in lines(enough)
    short = fitted(LoadRequest(), host=Host(CpuKind.AVX2, 12 * GIB, 1 * GIB))
    assert 4096 <= short.ctx < 131_072
    none = fitted(LoadRequest(), host=Host(CpuKind.AVX2, 3 * GIB, 3 * GIB))
    assert none.refused.startswith("was unable to fit model into system memory")
    unknown = fitted(LoadRequest(), host=Host())
    assert "not known" in unknown.not_calculated


def test_a_device_without_a_known_size_gets_nothing() -> None:
    unknown = Device("RPC0", DeviceKind.RPC, "", None, None, "test")
    assert fit(EIGHT_B, (unknown,), HOST, LoadRequest(), BUILD).ngl == 0


def test_several_devices_get_a_split_by_whole_layers() -> None:
    found = fitted(LoadRequest(ctx=8192), 4, 3)
    assert found.ngl == sum(found.tensor_split)
    placed = place(EIGHT_B, devices(4, 3), HOST, found.request, dry_pass=True, build=BUILD)
    for row, free in zip(placed.rows, (4, 3), strict=False):
        assert row.total_bytes <= (free - 1) * GIB


def test_a_mixture_of_experts_keeps_all_layers_and_moves_experts() -> None:
    request = LoadRequest(tool=Tool.FIT_PARAMS, ctx=8192)
    found = fit(MOE, devices(24_105 / 1024), HOST, request, BUILD)
    assert found.layers == 95
    first = found.overrides[0]
    # what was recorded for this model: block 11 keeps attention and up, the later ones attention
    assert first == (r"blk\.11\.ffn_(gate|gate_up|down).*", "CPU")
    # llama.cpp writes one for the output layer too, which has no experts
    assert len(found.overrides) == 95 - 11
    assert found.partial_blocks == 94 - 11
    assert all(pattern.endswith("(ch|)exps") for pattern, _buffer in found.overrides[1:])


def test_a_mixture_of_experts_without_room_loses_whole_layers() -> None:
    found = fit(MOE, devices(4), HOST, LoadRequest(ctx=8192), BUILD)
    assert found.ngl is not None
    assert 0 < found.ngl < 95
    assert "there is still a total deficit of" in lines(found)


def test_the_bench_program_loads_what_it_is_told() -> None:
    request = LoadRequest(tool=Tool.BENCH, ctx=8192)
    assert fitted(request, 1).not_calculated
    assert fitted(replace(request, fit_target_mib=1024), 4).ngl is not None


def test_older_builds_count_the_training_context_once_for_all_slots() -> None:
    request = LoadRequest(parallel=4)
    assert fitted(request, 300).ctx == 4 * 131_072
    assert fit(EIGHT_B, devices(300), HOST, request, 10434).ctx == 131_072


@settings(max_examples=10, deadline=None)
@given(
    free=st.lists(st.floats(0, 40), max_size=3),
    ctx=st.sampled_from([None, 0, 4096, 50_000]),
    target=st.sampled_from([None, 0, 100, 30_000]),
    is_moe=st.booleans(),
)
def test_ends_and_never_takes_more_than_there_is(
    free: list[float], ctx: int | None, target: int | None, is_moe: bool
) -> None:
    prepared = MOE if is_moe else EIGHT_B
    request = LoadRequest(ctx=ctx, fit_target_mib=target)
    found = fit(prepared, devices(*free), HOST, request, BUILD)
    assert 0 <= found.layers <= found.layers_total
    assert found.steps
    if found.ngl:
        placed = place(prepared, devices(*free), HOST, found.request, dry_pass=True, build=BUILD)
        # each device was filled before the rest was: with all layers on several devices the
        # pipeline's copies come on top, and llama.cpp does not look again
        is_piped = found.layers == found.layers_total and len(free) > 1
        for row, gib in zip(placed.rows, free, strict=False):
            if is_piped:
                row = replace(row, compute_bytes=0)
            assert row.total_bytes <= int(gib * GIB) or row.weights_bytes == 0


def test_each_device_keeps_its_own_target() -> None:
    asked = LoadRequest(ctx=8192, fit_targets_mib=(2048, 512))
    found = fitted(asked, 4, 4)
    placed = place(EIGHT_B, devices(4, 4), HOST, found.request, dry_pass=True, build=BUILD)
    for row, target in zip(placed.rows, (2048, 512), strict=False):
        assert row.total_bytes <= 4 * GIB - target * MIB
    # one target for all gives the first device as much as the second
    assert found.tensor_split[0] < fitted(LoadRequest(ctx=8192), 4, 4).tensor_split[0]


@pytest.mark.parametrize(
    ("one", "listed", "n", "expected"),
    [
        (None, (), 2, (1024, 1024)),
        (300, (), 0, (300,)),
        (None, (512,), 3, (512, 512, 512)),
        (None, (512, 2048), 3, (512, 2048, 1024)),
        (None, (1, 2, 3), 2, (1, 2)),
    ],
)
def test_targets_go_to_devices_as_llama_cpp_reads_them(
    one: int | None, listed: tuple[int, ...], n: int, expected: tuple[int, ...]
) -> None:
    request = LoadRequest(fit_target_mib=one, fit_targets_mib=listed)
    assert targets_mib(request, n) == expected


def test_says_that_a_load_does_not_fit_though_llama_cpp_starts_it() -> None:
    # a local card computes long prompts with copies of host weights, whatever its layers
    card = Device("CUDA0", DeviceKind.CUDA, "", 50 * MIB, 50 * MIB, "test")
    found = fit(EIGHT_B, (card,), HOST, LoadRequest(ctx=8192), BUILD)
    assert found.ngl == 0
    assert "it does not fit: CUDA0 takes" in found.steps[-1].text
    assert "successfully fit" in found.steps[-1].log_line
    assert "Not one layer has room" in fitted(LoadRequest(ctx=8192), 0.05).steps[-1].text
    assert fitted(LoadRequest(ctx=8192), 4).steps[-1].text == "The load starts like this."


# Qwen3 30B A3B with -c 4096 -fitt 16105 on an RPC device of 24,105 MiB: llama-fit-params 11434
# printed 49 layers (32 overflowing), 7947 MiB used, and patterns for blk.17 to blk.48
def test_experts_of_the_last_blocks_stay_behind() -> None:
    model = prepare(
        models.build(
            "qwen3-30b-a3b", "qwen3moe", "q4_K_M",
            Params(L=48, e=2048, f=6144, h=32, hk=4, dk=128, v=151936, ctx=40960,
                   nx=128, nu=8, fx=768),
        )
    )  # fmt: skip
    device = replace(devices(1)[0], free_bytes=24_105 * MIB, total_bytes=24_105 * MIB)
    request = LoadRequest(tool=Tool.FIT_PARAMS, ctx=4096, fit_target_mib=16_105)
    found = fit(model, (device,), Host(CpuKind.AMX, 24_105 * MIB), request, BUILD)
    assert (found.ngl, found.partial_blocks, found.partial_range) == (49, 31, "17 to 47")
    assert found.overrides[0][0] == r"blk\.17\.ffn_(gate|gate_up|down).*"
    assert "49 layers (32 overflowing),   7947 MiB used,  16157 MiB free" in lines(found)
    assert found.is_a_number


def test_experts_on_several_devices_are_no_number_from_the_first_block() -> None:
    found = fit(MOE, devices(60, 60), HOST, LoadRequest(ctx=4096), BUILD)
    assert found.partial_blocks and len(found.tensor_split) == 2
    assert not found.is_a_number
    assert fitted(LoadRequest(), 3, 3).is_a_number  # dense layers: a split says it all


def test_a_draft_is_counted_in_every_measurement() -> None:
    draft = models.build("small", "llama", "q4_K_M", replace(models.LLAMA_8B, L=4))
    request, one = LoadRequest(ctx=8192), devices(5)
    alone = fit(EIGHT_B, one, HOST, request, BUILD)
    both = fit(EIGHT_B, one, HOST, request, BUILD, companions=(Companion(Kind.DRAFT, draft),))
    own = place(prepare(draft), one, HOST, request, dry_pass=True, build=BUILD)
    assert alone.ngl is not None and both.ngl is not None and both.ngl < alone.ngl
    load = place(EIGHT_B, one, HOST, both.request, dry_pass=True, build=BUILD)
    used = load.total(is_host=False).total_bytes + own.total(is_host=False).total_bytes
    assert used <= 4 * GIB


def test_a_projector_is_not_counted_before_april_2026() -> None:
    tensors = (Tensor("v.blk.0.ffn_up.weight", 0, (1024, 131_072), 0),)
    beside = (Companion(Kind.PROJECTOR, Model("p", "clip", 3, False, {}, tensors, ())),)
    found, alone = (
        fit(EIGHT_B, devices(5), HOST, LoadRequest(ctx=8192), 8000, companions=companions)
        for companions in (beside, ())
    )
    assert found.ngl == alone.ngl


def test_a_projector_widens_the_margin_of_its_device() -> None:
    tensors = (Tensor("v.blk.0.ffn_up.weight", 0, (1024, 131_072), 0),)  # 512 MiB of F32
    projector = Model("mmproj.gguf", "clip", 3, False, {}, tensors, ())
    found, wider = (
        fit(EIGHT_B, devices(5), HOST, request, BUILD, companions=companions)
        for request, companions in (
            (LoadRequest(ctx=8192), (Companion(Kind.PROJECTOR, projector),)),
            (LoadRequest(ctx=8192, fit_target_mib=1024 + 512), ()),
        )
    )
    assert found.ngl == wider.ngl and found.ngl is not None
    kept = fit(EIGHT_B, devices(5), HOST, LoadRequest(ctx=8192), BUILD,
               companions=(Companion(Kind.PROJECTOR, projector, is_offloaded=False),))  # fmt: skip
    assert kept.ngl is not None and kept.ngl > found.ngl
