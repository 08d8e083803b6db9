"""The ten rules of reading a load, each on the capture that taught it, and their limits."""

from pathlib import Path

import pytest

from app.core.log import BufferKind, Ended, Fact, LoadStory, LogBuffer, Role
from app.logs.buffers import classify
from app.logs.figures import MIB
from app.logs.scan import scan, scan_file, scan_text

DATA = Path(__file__).parents[1] / "data" / "logs"


def load(name: str) -> LoadStory:
    found = scan_file(DATA / f"{name}.log").load
    assert found is not None
    return found


def buffer(story: LoadStory, name: str, role: Role) -> LogBuffer:
    return next(b for b in story.buffers if (b.name, b.role) == (name, role))


def test_claim_of_full_offload_is_not_believed_when_nothing_is_on_a_device() -> None:
    for name in ("b11434-cpu-ngl99-lv4", "b10434-vulkan-device-none-ngl99-lv4"):
        story = load(name)
        assert story.offload_line is not None
        assert story.offload_line[0] == story.offload_line[1]
        assert story.weights_on_device is False
        assert story.devices == ()


def test_device_that_is_listed_but_unused_stays_in_the_list() -> None:
    story = load("b10434-vulkan-device-none-ngl99-lv4")
    assert story.devices_listed == ("Vulkan0",)
    assert load("b11434-cpu-ngl99-lv4").devices_listed == ()
    assert load("b11434-cpu-ngl99-default-verbosity").devices_listed is None


def test_trial_pass_is_marked_and_not_counted() -> None:
    story = load("b11434-rpc-one-device-partial-ngl6-verbose")
    trial = [e for e in story.events if e.fact is Fact.COMPUTE_BUFFER and e.is_projection]
    assert len(trial) == 2
    device = buffer(story, "RPC0[127.0.0.1:52241]", Role.COMPUTE)
    assert device.n_bytes == round(11.26 * MIB)
    assert device.line > trial[-1].line


def test_log_that_ends_in_the_trial_pass_shows_no_placement() -> None:
    lines = (DATA / "b11434-rpc-one-device-partial-ngl6-verbose.log").read_text().splitlines()
    cut = next(n for n, line in enumerate(lines) if "RPC0[" in line and "compute buffer" in line)
    story = scan(lines[: cut + 1]).load
    assert story is not None
    assert story.buffers == ()
    assert story.weights_on_device is None


def test_cache_of_a_sliding_window_model_is_the_sum_of_its_blocks() -> None:
    story = load("b10434-vulkan-full-offload-lv4")
    assert buffer(story, "Vulkan0", Role.KV).n_bytes == round(49.5 * MIB)
    assert story.cache_type_k == story.cache_type_v == "f16"
    assert load("b11434-cpu-kv-q8_0-lv4").cache_type_v == "q8_0"


def test_rpc_buffers_are_joined_to_their_devices_by_endpoint() -> None:
    story = load("b11434-rpc-two-devices-full-lv4")
    assert story.devices == ("RPC0", "RPC1")
    assert buffer(story, "RPC0[127.0.0.1:52241]", Role.WEIGHTS).device == "RPC0"
    assert buffer(story, "RPC0[127.0.0.1:52242]", Role.WEIGHTS).device == "RPC1"


def test_table_before_the_load_is_a_projection_and_the_one_at_exit_a_fact() -> None:
    story = load("b11434-cpu-healthy-lv4")
    assert [event.whole("self") for event in story.projection] == [296, 12]
    assert [event.whole("self") for event in story.breakdown] == [309, 12]
    assert load("b10434-vulkan-kv-q8_0-killed-while-loading-lv4").breakdown == ()


def test_fit_keeps_the_last_decision_of_each_device() -> None:
    story = load("b11434-rpc-two-devices-fit-lv4")
    decided = [event for event in story.fit if event.fact is Fact.FIT_DEVICE]
    assert sorted((e.word("device"), e.whole("layers")) for e in decided) == [
        ("RPC0", 16),
        ("RPC1", 3),
    ]


def test_default_verbosity_says_why_there_is_no_placement() -> None:
    story = load("b11434-cpu-healthy-default-verbosity")
    assert story.weights_on_device is None
    assert story.note.startswith(
        "This log cannot show placement (verbosity 3): run again with -lv 4"
    )
    assert load("b11434-cpu-healthy-lv4").note == ""


def test_log_without_a_word_says_what_it_did_last() -> None:
    story = load("b10434-vulkan-crash-in-first-request-default-verbosity")
    assert (story.ended, story.ends_after) == (Ended.OPEN, "starting to answer a request")
    killed = load("b10434-vulkan-kv-q8_0-killed-while-loading-lv4")
    assert killed.ends_after == "reserving the compute buffers"


def test_cause_comes_before_its_consequences() -> None:
    errors = load("b11434-load-error-truncated-data").errors
    assert [error.fact for error in errors[:2]] == [Fact.ERROR_FILE, Fact.ERROR_CONSEQUENCE]
    assert errors[0].word("tensor") == "blk.4.ffn_down.weight"
    assert errors[0].word("why") == "cut"
    assert len({error.text for error in errors}) == len(errors)


def test_self_built_number_is_no_build() -> None:
    story = load("b10434-vulkan-full-offload-lv4")
    assert story.build is None
    assert story.event(Fact.BUILD) is not None
    assert load("old-b7079-2025-11-server-cpu").build == 7079


def test_capped_slot_and_over_commit_are_told() -> None:
    story = load("b10434-vulkan-overcommit-loads-anyway-lv4")
    assert (story.n_ctx, story.n_ctx_slot, story.n_slots) == (120064, 32768, 4)
    on_device = sum(b.n_bytes for b in story.buffers if b.device == "Vulkan0")
    assert on_device == pytest.approx(2426.7 * MIB, rel=1e-3)
    assert story.ended is Ended.CLEAN


def test_each_process_in_a_log_is_a_load_of_its_own() -> None:
    names = ("b11434-cpu-ngl99-lv4", "b10434-vulkan-partial-ngl9-lv4", "b11434-cpu-verbose")
    text = "".join((DATA / f"{name}.log").read_text() for name in names)
    summary = scan_text(text)
    assert [story.offload_line for story in summary.loads] == [(13, 13), (9, 19), (13, 13)]
    assert [story.weights_on_device for story in summary.loads] == [False, True, False]
    first, second, third = summary.loads
    assert first.last_line < second.first_line <= second.last_line < third.first_line
    assert third.last_line == summary.n_lines
    assert first.devices_listed == ()
    assert second.devices_listed == ("Vulkan0",)


def test_draft_model_is_a_load_of_its_own() -> None:
    lines = (DATA / "b11434-cpu-ngl99-lv4.log").read_text().splitlines()
    cut = next(n for n, line in enumerate(lines) if "loaded meta data" in line)
    end = next(n for n, line in enumerate(lines) if "reserve took" in line)
    announced = "common_speculative_init: loading draft model '/models/draft.gguf'"
    draft = [line.replace("/models/tiny", "/models/draft") for line in lines[cut : end + 1]]
    main, second = scan([*lines[: end + 1], announced, *draft, *lines[end + 1 :]]).loads
    assert main.path == "/models/tiny-llama-40M-Q8_0.gguf"
    assert second.path == "/models/draft.gguf"
    assert main.buffers
    assert [b.n_bytes for b in main.buffers] == [b.n_bytes for b in second.buffers]


def test_requests_after_a_draft_model_belong_to_the_main_load() -> None:
    summary = scan_file(DATA / "b11434-cpu-draft-gemma-lv4.log")
    main, draft = summary.loads
    assert (main.is_draft, draft.is_draft) == (False, True)
    assert summary.load is main
    assert (len(main.rates), len(draft.rates)) == (2, 0)
    assert (main.n_ctx_slot, draft.n_ctx_slot) == (1024, None)
    assert main.ended is Ended.CLEAN
    assert [event.whole("self") for event in main.breakdown] == [273, 12]


def test_draft_model_that_fails_ends_the_main_load() -> None:
    lines = (DATA / "b11434-cpu-draft-gemma-lv4.log").read_text().splitlines()
    cut = next(n for n, line in enumerate(lines) if "loading draft model" in line)
    failure = "E llama_model_load: error loading model: unknown model architecture: 'nosucharch'"
    main = scan([*lines[: cut + 1], f"0.01.800.000 {failure}"]).load
    assert main is not None
    assert main.ended is Ended.FAILED
    assert main.errors[0].fact is Fact.ERROR_ARCHITECTURE


def test_processes_without_a_build_line_are_told_apart() -> None:
    names = ("b11434-cpu-ngl99-default-verbosity", "b11434-load-error-truncated-data")
    text = "".join((DATA / f"{name}.log").read_text() for name in names)
    summary = scan_text(text + (DATA / "b11434-cpu-ngl99-lv4.log").read_text())
    assert [load.verbosity for load in summary.loads] == [3, 3, 4]
    assert [load.ended for load in summary.loads] == [Ended.CLEAN, Ended.FAILED, Ended.CLEAN]
    assert [load.weights_on_device for load in summary.loads] == [None, None, False]


def test_error_before_the_program_was_ready_after_all_is_no_failed_load() -> None:
    lines = (DATA / "b11434-cpu-ngl99-lv4.log").read_text().splitlines()
    cut = next(n for n, line in enumerate(lines) if "loaded meta data" in line)
    story = scan([*lines[:cut], "0.00.020.000 E srv  x: something went wrong", *lines[cut:]]).load
    assert story is not None
    assert len(story.errors) == 1
    assert story.ended is Ended.CLEAN


def test_second_context_of_a_benchmark_replaces_the_first() -> None:
    lines = (DATA / "b11434-cpu-ngl99-lv4.log").read_text().splitlines()
    start = next(n for n, line in enumerate(lines) if "constructing llama_context" in line)
    end = next(n for n, line in enumerate(lines) if "reserve took" in line)
    context = lines[start : end + 1]
    once = scan(lines).load
    again = scan([*lines[: end + 1], *context]).load
    assert once is not None
    assert again is not None
    sizes = [(b.name, b.role, b.n_bytes) for b in once.buffers]
    assert [(b.name, b.role, b.n_bytes) for b in again.buffers] == sizes
    mtp = "common_speculative_init: creating MTP draft context against the target model '/m.gguf'"
    both = scan([*lines[: end + 1], mtp, *context]).load
    assert both is not None
    for one, two in zip(once.buffers, both.buffers, strict=True):
        assert two.n_bytes == one.n_bytes * (1 if one.role is Role.WEIGHTS else 2)


@pytest.mark.parametrize("wrapper", ["llama-1  | ", "[stdout] ", "2026-10-02 10:11:12 [info] x: "])
@pytest.mark.parametrize("name", ["b10434-vulkan-partial-ngl9-lv4", "b11434-cpu-lv4-colors-on"])
def test_wrapped_log_tells_the_same(wrapper: str, name: str) -> None:
    lines = (DATA / f"{name}.log").read_text().splitlines()
    plain, wrapped = scan(lines).load, scan(wrapper + line for line in lines).load
    assert plain is not None
    assert wrapped is not None
    assert plain.buffers == wrapped.buffers
    assert plain.weights_on_device is wrapped.weights_on_device
    assert (plain.n_ctx, plain.n_ctx_slot) == (wrapped.n_ctx, wrapped.n_ctx_slot)
    assert [e.values for e in plain.fit] == [e.values for e in wrapped.fit]


HOST = ("CPU", "CPU_Mapped", "CPU_REPACK", "CPU_AARCH64", "CPU_HBM", "CPU_KLEIDIAI", "AMX", "BLAS")
PINNED = ("CUDA_Host", "Vulkan_Host", "ROCm_Host", "SYCL_Host", "Host")
DEVICES = ("MTL0_Mapped", "MTL0_Private", "CUDA0_Split", "CUDA_Split", "ROCm0", "SYCL0", "Vulkan0")
OTHERS = ("RPC0[10.0.0.1:50052]", "CANN0", "MUSA0", "OpenCL", "HTP0", "Metal", "CUDA1")


@pytest.mark.parametrize("name", HOST + PINNED)
def test_host_memory_is_never_called_a_device(name: str) -> None:
    assert classify(name, {}) == (BufferKind.HOST, None)


@pytest.mark.parametrize("name", DEVICES + OTHERS)
def test_device_names_are_known(name: str) -> None:
    assert classify(name, {})[0] is BufferKind.DEVICE


@pytest.mark.parametrize("name", ["NewChip0", "llvmpipe (LLVM 15.0.6, 256 bits)", "XCUDA0", ""])
def test_unknown_name_stays_unknown(name: str) -> None:
    assert classify(name, {"Vulkan0": "AMD Radeon"}) == (BufferKind.UNKNOWN, None)


def test_unknown_weights_buffer_gives_no_verdict_and_says_so() -> None:
    lines = (DATA / "b11434-cpu-ngl99-lv4.log").read_text().replace(" CPU_Mapped", " NewChip0")
    story = scan(lines.splitlines()).load
    assert story is not None
    assert story.weights_on_device is None
    assert "NewChip0" in story.note


def test_listed_name_or_card_is_a_device() -> None:
    assert classify("NewChip0", {"NewChip0": ""}) == (BufferKind.DEVICE, "NewChip0")
    card = "llvmpipe (LLVM 15.0.6, 256 bits)"
    assert classify(card, {"Vulkan0": f"{card} (llvmpipe)"}) == (BufferKind.DEVICE, "Vulkan0")
