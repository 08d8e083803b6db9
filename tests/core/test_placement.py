"""Placement of small models whose bytes can be added up by hand."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.errors import UserError
from app.core.machine import CpuKind, Device, DeviceKind, Host
from app.core.model import Model
from app.core.placement import Placement, Prepared, place, prepare
from app.core.request import LoadRequest, SplitMode, Switch, Tool
from app.core.units import GIB, MIB
from tests.core import small_models
from tests.truth import models
from tests.truth.params import Params

# In f16: a table is 256 x 64 x 2 bytes, a block four attention and three feed-forward matrices
TABLE = 32_768
NORM = 1024
BLOCK = 2 * NORM + 131_072 + 65_536 + 65_536 + 131_072 + 3 * 262_144
KV = 2 * MIB  # one layer at 4096 cells: 128 values, K and V, 2 bytes
SMALL = Params(L=2, e=256, f=512, h=4, hk=2, v=64, ctx=4096)
HOST = Host(CpuKind.NONE, 8 * GIB, 6 * GIB)


def model(params: Params = SMALL, *, arch: str = "llama", recipe: str = "f16") -> Model:
    """Return a small model."""
    return models.build("small", arch, recipe, params)


def device(
    name: str = "CUDA0", kind: DeviceKind = DeviceKind.CUDA, *, limit: int | None = None
) -> Device:
    """Return a device with 4 GiB."""
    return Device(name, kind, "", 4 * GIB, 4 * GIB, "test", limit)


def placed(
    given_model: Model | Prepared,
    request: LoadRequest,
    *devices: Device,
    host: Host = HOST,
) -> Placement:
    """Place on devices, one CUDA device unless others are given."""
    prepared = given_model if isinstance(given_model, Prepared) else prepare(given_model)
    return place(prepared, devices or (device(),), host, request)


def weights_of(placement: Placement, buffer: str) -> int:
    """Return the weights in a buffer, 0 when it has no row."""
    row = placement.row(buffer)
    return row.weights_bytes if row else 0


def test_the_output_layer_goes_first_when_one_layer_is_offloaded() -> None:
    found = placed(model(), LoadRequest(ngl=1))
    assert weights_of(found, "CUDA0") == TABLE + NORM
    assert weights_of(found, "Host") == TABLE + 2 * BLOCK
    assert [layer.device for layer in found.layers] == [None, None, "CUDA0"]
    assert found.total(is_host=True).context_bytes == 2 * KV
    assert (found.ngl, found.layers_total) == (1, 3)


def test_blocks_follow_from_the_last_one_when_more_are_offloaded() -> None:
    found = placed(model(), LoadRequest(ngl=2))
    assert [layer.device for layer in found.layers] == [None, "CUDA0", "CUDA0"]
    assert weights_of(found, "CUDA0") == TABLE + NORM + BLOCK
    row = found.row("CUDA0")
    assert row is not None
    assert row.context_bytes == KV


@pytest.mark.parametrize("ngl", [None, -1, -2, 3, 99])
def test_the_host_keeps_the_embedding_alone_when_all_is_offloaded(ngl: int | None) -> None:
    found = placed(model(), LoadRequest(ngl=ngl))
    assert weights_of(found, "Host") == TABLE
    assert weights_of(found, "CUDA0") == TABLE + NORM + 2 * BLOCK
    # one row of the embedding is read per token, and the smallest read of the cache is 256 cells
    row_bytes = 512
    all_bytes = row_bytes + TABLE + NORM + 2 * BLOCK + 2 * KV * 256 // 4096
    assert found.reads.host_bytes == row_bytes
    assert found.reads.total_bytes == all_bytes
    assert found.f == row_bytes / all_bytes


def test_nothing_is_on_a_device_when_none_is_used() -> None:
    found = placed(model(), LoadRequest(ngl=99, use_devices=False))
    assert found.f == 1
    assert found.ngl == 3  # as the log would print it all the same
    assert [row.buffer for row in found.rows] == ["Host"]


def test_a_tied_output_costs_a_copy_only_where_it_is_on_a_device() -> None:
    tied = model(replace(SMALL, tied=1))
    on_device = placed(tied, LoadRequest(ngl=1))
    assert weights_of(on_device, "CUDA0") == TABLE + NORM
    assert weights_of(on_device, "Host") == TABLE + 2 * BLOCK
    on_host = placed(tied, LoadRequest(ngl=0))
    assert weights_of(on_host, "Host") == TABLE + NORM + 2 * BLOCK


def test_layers_are_split_by_the_shares_given() -> None:
    found = placed(
        model(replace(SMALL, L=7)),
        LoadRequest(tensor_split=(3, 1)),
        device("CUDA0"),
        device("CUDA1"),
    )
    homes = [layer.device for layer in found.layers]
    assert homes == ["CUDA0"] * 6 + ["CUDA1"] * 2


def test_layers_are_split_by_free_memory_when_no_shares_are_given() -> None:
    small = replace(device("CUDA1"), free_bytes=4 * GIB // 3)
    found = placed(model(replace(SMALL, L=7)), LoadRequest(), device("CUDA0"), small)
    homes = [layer.device for layer in found.layers]
    assert homes == ["CUDA0"] * 6 + ["CUDA1"] * 2


def test_one_device_is_used_when_the_split_mode_is_none() -> None:
    request = LoadRequest(split_mode=SplitMode.NONE, main_gpu=1)
    found = placed(model(), request, device("CUDA0"), device("CUDA1"))
    assert {layer.device for layer in found.layers} == {"CUDA1"}
    none = placed(model(), replace(request, main_gpu=-1), device("CUDA0"), device("CUDA1"))
    assert {layer.device for layer in none.layers} == {None}


def test_remote_devices_come_first_and_integrated_ones_only_alone() -> None:
    remote = device("RPC0", DeviceKind.RPC)
    integrated = replace(device("Vulkan1", DeviceKind.VULKAN), is_integrated=True)
    found = placed(model(), LoadRequest(), integrated, device("Vulkan0"), remote)
    assert [row.buffer for row in found.rows if not row.is_host] == ["RPC0", "Vulkan0"]
    alone = placed(model(), LoadRequest(), integrated)
    assert [row.buffer for row in alone.rows if not row.is_host] == ["Vulkan1"]


def test_an_unknown_device_is_named_when_it_is_asked_for() -> None:
    with pytest.raises(UserError, match="There is no device CUDA7"):
        placed(model(), LoadRequest(device_ids=("CUDA7",)))


def test_the_cache_stays_on_the_host_when_it_is_not_offloaded() -> None:
    found = placed(model(), LoadRequest(kv_offload=False))
    assert found.total(is_host=False).context_bytes == 0
    assert found.total(is_host=True).context_bytes == 2 * KV
    assert found.reads.host_bytes > 2 * KV * 256 // 4096


def test_a_weight_the_device_refuses_lies_on_the_host() -> None:
    # the output is tested with 512 columns: 64 rows x 512 x 4 bytes are 128 KiB
    roomy = device("Vulkan0", DeviceKind.VULKAN, limit=128 * 1024 + 3 * 262_144)
    assert weights_of(placed(model(), LoadRequest(ngl=1), roomy), "Vulkan0") == TABLE + NORM
    tight = device("Vulkan0", DeviceKind.VULKAN, limit=128 * 1024 - 1)
    found = placed(model(), LoadRequest(ngl=1), tight)
    assert weights_of(found, "Vulkan0") == NORM
    assert found.layers[-1].device == "Vulkan0"
    assert found.layers[-1].host_weights_bytes == TABLE
    assert found.f_layers == 1


def test_host_matrices_are_repacked_only_where_nothing_is_pinned() -> None:
    host = Host(CpuKind.AVX2, 8 * GIB, 6 * GIB)
    q4 = prepare(model(recipe="q4_0"))
    alone = placed(q4, LoadRequest(use_devices=False), host=host)
    assert weights_of(alone, "CPU_REPACK") > 0
    with_card = placed(q4, LoadRequest(ngl=0), host=host)
    assert weights_of(with_card, "CPU_REPACK") == 0
    no_pinned = placed(q4, LoadRequest(ngl=0, host_buffers=False), host=host)
    assert weights_of(no_pinned, "CPU_REPACK") == weights_of(alone, "CPU_REPACK")
    plain = placed(q4, LoadRequest(use_devices=False, repack=False), host=host)
    assert weights_of(plain, "CPU_REPACK") == 0


def test_amx_takes_more_bytes_per_block() -> None:
    q8 = prepare(model(recipe="q8_0"))
    plain = placed(q8, LoadRequest(use_devices=False))
    amx = placed(q8, LoadRequest(use_devices=False), host=replace(HOST, cpu=CpuKind.AMX))
    packed = weights_of(amx, "AMX")
    moved = weights_of(plain, "Host") - weights_of(amx, "Host")
    assert packed * 34 == moved * 38


def test_cuda_pads_rows_that_512_does_not_divide() -> None:
    q8 = prepare(model(replace(SMALL, e=256, h=4), recipe="q8_0"))
    cuda = weights_of(placed(q8, LoadRequest()), "CUDA0")
    vulkan = weights_of(placed(q8, LoadRequest(), device("Vulkan0", DeviceKind.VULKAN)), "Vulkan0")
    # rows of 256 are filled up to 512: 8 blocks of 34 bytes for each matrix but ffn_down (512 wide)
    assert cuda - vulkan == (2 * 6 + 1) * 8 * 34


def test_overrides_apply_in_order_and_the_first_match_wins() -> None:
    request = LoadRequest(overrides=((r"blk\.1\.ffn_down", "CUDA0"), ("ffn_down", "CPU")))
    found = placed(model(), request)
    assert [layer.host_weights_bytes for layer in found.layers] == [262_144, 0, 0]


def test_a_pattern_with_a_choice_is_not_taken_for_one_block() -> None:
    request = LoadRequest(overrides=((r"blk\.0\.ffn_up|blk\.1\.ffn_up", "CPU"),))
    found = placed(model(), request)
    assert [layer.host_weights_bytes for layer in found.layers] == [262_144, 262_144, 0]


def test_a_broken_pattern_is_shown_when_it_cannot_be_read() -> None:
    with pytest.raises(UserError, match="not a valid pattern"):
        placed(model(), LoadRequest(overrides=(("(", "CPU"),)))


def test_the_mapped_range_includes_the_holes() -> None:
    found = placed(model(), LoadRequest(overrides=(("ffn_down", "CPU"),)))
    # from the embedding at the start of the file to the last block's ffn_down at its end
    assert found.mapped_bytes == 2 * TABLE + NORM + 2 * BLOCK
    assert weights_of(found, "Host") == TABLE + 2 * 262_144


def test_nothing_is_mapped_in_a_dry_pass() -> None:
    dry = place(prepare(model()), (), HOST, LoadRequest(), dry_pass=True)
    assert dry.mapped_bytes is None
    unmapped = placed(model(), LoadRequest(load_mode="none"))
    assert unmapped.mapped_bytes is None


MOE = Params(L=4, e=256, f=512, h=4, hk=2, v=64, ctx=4096, nx=8, nu=2, fx=128)
EXPERTS = 8 * 3 * 256 * 128 * 2


@pytest.mark.parametrize("request_", [LoadRequest(cpu_moe=True), LoadRequest(n_cpu_moe=4)])
def test_experts_stay_on_the_host_and_are_read_by_their_used_share(request_: LoadRequest) -> None:
    moe = model(MOE, arch="qwen3moe")
    found = placed(moe, request_)
    assert weights_of(found, "Host") == TABLE + 4 * EXPERTS
    assert found.reads.host_bytes == 512 + 4 * EXPERTS * 2 // 8
    assert found.f_layers == 1  # N of the blocks, the output layer aside


def test_the_first_blocks_lose_their_experts_when_some_are_kept_back() -> None:
    found = placed(model(MOE, arch="qwen3moe"), LoadRequest(n_cpu_moe=1))
    assert [layer.host_weights_bytes for layer in found.layers] == [EXPERTS, 0, 0, 0, 0]


def test_blocks_that_predict_further_tokens_count_but_are_not_loaded() -> None:
    params = Params(L=4, e=256, f=512, h=4, hk=2, dk=64, v=64, ctx=4096, ds=64, nk=2, nv=4, mtp=1)
    found = placed(model(params, arch="qwen35"), LoadRequest())
    assert found.layers_total == 6
    assert found.layers[4].weights_bytes == 0
    assert found.layers[4].context_bytes == 0


def test_a_window_is_wider_for_the_servers_four_slots() -> None:
    windowed = model(replace(SMALL, L=6, dk=64, swa=1024), arch="gemma3")
    server = placed(windowed, LoadRequest(ctx=8192))
    one = placed(windowed, LoadRequest(ctx=8192, parallel=1))
    assert [cache.cells for cache in server.caches] == [8192, 4 * 1024 + 512]
    assert [cache.cells for cache in one.caches] == [8192, 1024 + 512]
    full = placed(windowed, LoadRequest(ctx=8192, swa_full=True))
    assert [cache.cells for cache in full.caches] == [8192, 8192]
    assert [len(cache.layers) for cache in server.caches] == [1, 5]


def test_each_slot_has_its_stream_when_their_number_is_given() -> None:
    found = placed(model(), LoadRequest(ctx=6000, parallel=3))
    # 6000 is padded to 6144, a third of it is 2048
    assert (found.context.n_ctx_seq, found.context.n_ctx) == (2048, 6144)
    assert found.caches[0].n_bytes == 2 * KV * 6144 // 4096


def test_quantised_caches_take_blocks_of_32() -> None:
    found = placed(model(), LoadRequest(cache_type_k="q8_0", cache_type_v="q4_0"))
    assert found.caches[0].n_bytes == 2 * 4096 * (128 // 32) * (34 + 18)


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (LoadRequest(cache_type_v="q8_0", flash_attn=Switch.OFF), "needs flash attention"),
        (LoadRequest(cache_type_k="q9"), "Unknown cache type q9"),
    ],
)
def test_refuses_what_llama_cpp_refuses(request_: LoadRequest, words: str) -> None:
    with pytest.raises(UserError, match=words):
        placed(model(), request_)


def test_a_cache_type_is_refused_when_heads_do_not_divide() -> None:
    with pytest.raises(UserError, match="does not suit this model"):
        placed(model(replace(SMALL, e=240, h=10)), LoadRequest(cache_type_k="q8_0"))


def test_a_file_without_blocks_is_no_language_model() -> None:
    empty = Model("x.gguf", "clip", 3, False, {"general.architecture": "clip"}, (), ())
    with pytest.raises(UserError, match="does not describe a language model"):
        prepare(empty)


def test_says_so_when_a_cache_is_not_derived() -> None:
    unknown = model(SMALL)
    keys = {name.replace("llama.", "deepseek32."): value for name, value in unknown.keys.items()}
    odd = Model("x.gguf", "deepseek32", 3, False, keys, unknown.tensors, unknown.parts)
    found = placed(odd, LoadRequest())
    assert any("not derived" in reason for reason in found.not_calculated)


@given(ngl=st.integers(0, 9), tool=st.sampled_from(Tool), is_tied=st.booleans())
def test_weights_only_move_between_host_and_device(ngl: int, tool: Tool, is_tied: bool) -> None:
    given_model = model(replace(SMALL, L=8, tied=int(is_tied)))
    found = placed(given_model, LoadRequest(tool=tool, ngl=ngl))
    total = sum(row.weights_bytes for row in found.rows)
    copy = TABLE if is_tied and ngl else 0  # the tied output's own copy
    assert total == given_model.tensor_bytes + copy
    assert sum(row.context_bytes for row in found.rows) == sum(c.n_bytes for c in found.caches)
    assert 0 <= found.f <= 1
    if ngl < 9:
        further = placed(given_model, LoadRequest(tool=tool, ngl=ngl + 1))
        assert further.f < found.f


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("block_count", 0),
        ("block_count", -3),
        ("block_count", 10**9),
        ("nextn_predict_layers", 2),
        ("attention.head_count", float("nan")),
        ("attention.head_count_kv", (2, -1)),
        ("attention.value_length", float("inf")),
        ("feed_forward_length", 1 << 40),
    ],
)
def test_a_count_that_cannot_be_right_is_named(
    name: str, value: int | float | tuple[int, ...]
) -> None:
    good = model()
    lying = replace(good, keys={**good.keys, f"llama.{name}": value})
    with pytest.raises(UserError, match="cannot be right") as caught:
        prepare(lying)
    wrong = "block_count" if name == "nextn_predict_layers" else name
    assert f"llama.{wrong} is" in caught.value.detail


@given(
    changed=st.dictionaries(
        st.sampled_from(
            ["block_count", "attention.head_count", "attention.head_count_kv", "expert_count",
             "embedding_length", "attention.sliding_window", "context_length", "vocab_size",
             "expert_used_count", "attention.key_length", "ssm.inner_size"]
        ),
        st.one_of(
            st.integers(-(2**63), 2**64),
            st.floats(),
            st.booleans(),
            st.text(max_size=3),
            st.lists(st.integers(-2, 9), max_size=4).map(tuple),
        ),
        max_size=4,
    ),
    arch=st.sampled_from(["llama", "gemma3", "qwen3moe", "mamba", "gemma3n", "lfm2"]),
    ngl=st.sampled_from([None, 0, 1]),
)  # fmt: skip
def test_a_header_that_lies_is_placed_or_refused(
    changed: dict[str, int | float | bool | str | tuple[int, ...]], arch: str, ngl: int | None
) -> None:
    base = model()
    keys = {k.replace("llama.", f"{arch}."): value for k, value in base.keys.items()}
    keys |= {f"{arch}.{name}": value for name, value in changed.items()}
    lying = Model("x.gguf", arch, 3, False, keys, base.tensors, base.parts)
    try:
        found = placed(lying, LoadRequest(ngl=ngl))
    except UserError as error:
        assert error.sentence()
        return
    assert 0 <= found.f <= 1
    assert all(row.weights_bytes >= 0 and row.context_bytes >= 0 for row in found.rows)


def test_puts_the_output_layer_on_the_device_last_in_builds_of_2025() -> None:
    # placement.md 1.2 [10]: 30 of 49 are 30 blocks there, and the output with 29 blocks today
    model = prepare(small_models.llama(blocks=8))
    card = Device("CUDA0", DeviceKind.CUDA, "", 80 * GIB, 80 * GIB, "test")
    for build, expected in ((6786, [None] * 3 + ["CUDA0"] * 5 + [None]),
                            (11434, [None] * 4 + ["CUDA0"] * 5)):  # fmt: skip
        placed = place(model, (card,), Host(), LoadRequest(ngl=5), build=build)
        assert [layer.device for layer in placed.layers] == expected
    whole = place(model, (card,), Host(), LoadRequest(ngl=9), build=6786)
    assert all(layer.device == "CUDA0" for layer in whole.layers)
