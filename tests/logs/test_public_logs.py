"""Logs that others posted, read by hand: what each tells, in every dialect."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from app.core.log import BufferKind, Ended, Fact, LoadStory, LogSummary, Role
from app.logs.figures import MIB
from app.logs.scan import scan_file

DATA = Path(__file__).parents[1] / "data" / "logs" / "public"


@dataclass(frozen=True, slots=True)
class Read:
    """What somebody reads in a log; None where it does not say."""

    program: str
    on_device: bool | None = None
    device_mib: float = 0.0  # weights
    offload: tuple[int, int] | None = None
    n_ctx: int | None = None
    ended: Ended = Ended.OPEN
    first_error: tuple[Fact, int] | None = None  # and its line
    listed: tuple[str, ...] | None = None


READ = {
    "bench-2026-04-in-issue": Read("llama-bench", listed=("CUDA0",)),
    "kobold-2024-03-vulkan": Read("KoboldCpp"),
    "localai-2024-01": Read("llama.cpp", False, 0.0, (0, 41), 4096),
    "mlx-lms-2025-09-stats": Read("LM Studio"),
    "mlx-lms-2026-02-oom": Read(
        "LM Studio", ended=Ended.CRASHED, first_error=(Fact.ERROR_MEMORY, 2)
    ),
    "ollama-2024-11-970": Read(
        "Ollama",
        True,
        1918.36,
        (29, 29),
        None,
        Ended.FAILED,
        (Fact.ERROR_MEMORY, 9),
        ("CUDA0",),
    ),
    "ollama-2025-08-win-engine": Read("Ollama"),
    "tabby-2026-09-load": Read("TabbyAPI", n_ctx=145408),
    "vllm-2026-05-tp8": Read("vLLM", True, 2 * 15.26 * 1024),
    "vulkan-2024-09-pinned": Read("llama.cpp", False, 0.0, (0, 33)),
    "cortex-2024-11": Read("Jan", True, 260.87, (13, 13)),
    "ik-2025-04-mla": Read(
        "llama.cpp",
        True,
        19631.39 * 2 + 23557.67 + 43189.07,
        (27, 62),
        8192,
        listed=("CUDA0", "CUDA1", "CUDA2", "CUDA3"),
    ),
    "jan-nitro-2024-03": Read("Jan", True, 3820.94, (33, 33), listed=("CUDA0",)),
    "kobold-2025-05-draft": Read("KoboldCpp", True, 4809.52, (33, 33), 32768),
    "kobold-2026-02-autofit": Read(
        "KoboldCpp", ended=Ended.FAILED, first_error=(Fact.ERROR_CONSEQUENCE, 23)
    ),
    "llamacpp-2026-08-pp-retry": Read("llama-server"),
    "lms-2025-02-cuda": Read("LM Studio", ended=Ended.CRASHED),
    "lms-2025-08-mlx-guardrail": Read(
        "LM Studio", ended=Ended.FAILED, first_error=(Fact.ERROR_MEMORY, 1)
    ),
    "lms-2025-11-mlx-exit6": Read("LM Studio", ended=Ended.CRASHED),
    "lms-2025-11-vulkan": Read("LM Studio", True),
    "metal-2023-12-mixtral": Read(
        "llama.cpp",
        True,
        8192.0 * 2 + 3241.14,
        None,
        512,
        Ended.CRASHED,
        (Fact.ERROR_OTHER, 16),
        ("Metal",),
    ),
    "ollama-2025-07-engine": Read("Ollama", True, (11.9 + 11.5) * 1024, (41, 41)),
    "tabby-2026-09": Read("TabbyAPI"),
    "vllm-2024-06-oom": Read(
        "vLLM",
        True,
        15.2075 * 1024,
        ended=Ended.FAILED,
        first_error=(Fact.ERROR_MEMORY, 5),
    ),
    "vllm-wrapped-2026": Read("vLLM", ended=Ended.FAILED, first_error=(Fact.VLLM_MEMORY, 5)),
}


@cache
def log(name: str) -> LogSummary:
    return scan_file(DATA / f"{name}.log")


def load(name: str) -> LoadStory:
    found = log(name).load
    assert found is not None
    return found


def test_each_public_log_is_named_with_its_source() -> None:
    listed = (DATA / "README.md").read_text(encoding="utf-8")
    assert all(f"| {path.stem} |" in listed for path in DATA.glob("*.log"))


@pytest.mark.parametrize("name", sorted(READ))
def test_log_is_read_as_a_person_reads_it(name: str) -> None:
    story, read = load(name), READ[name]
    assert len(log(name).loads) == 1
    device = story.bytes_of(BufferKind.DEVICE, Role.WEIGHTS)
    assert device == pytest.approx(read.device_mib * MIB, abs=8)
    first = story.errors[0] if story.errors else None
    assert (
        Read(
            story.program,
            story.weights_on_device,
            read.device_mib,
            story.offload_line,
            story.n_ctx,
            story.ended,
            (first.fact, first.line) if first else None,
            story.devices_listed,
        )
        == read
    )


def test_lines_that_a_console_broke_are_read_together_and_cited() -> None:
    prompt, generated = load("tabby-2026-09").rates
    assert (prompt.whole("n"), prompt.number("tps")) == (11926, 727.64)
    assert (generated.whole("n"), generated.number("tps")) == (1, 28.2)
    assert (prompt.line, prompt.n_lines) == (4, 2)
    (request,) = load("tabby-2026-09").requests
    assert request.n_cached == 3840
    refused = load("vllm-wrapped-2026").errors[0]
    assert (refused.line, refused.n_lines) == (5, 2)
    assert (refused.whole("asked"), refused.whole("stored")) == (100000, 99840)


def test_memory_that_was_got_in_another_way_is_no_error() -> None:
    found = log("llamacpp-2026-08-pp-retry")
    assert not found.all(Fact.ERROR_MEMORY)
    assert [event.line for event in found.all(Fact.HARMLESS)] == [1, 2, 3, 4]


def test_table_of_a_program_that_answers_tells_where_the_weights_are() -> None:
    story = load("lms-2025-11-vulkan")
    assert [event.whole("model") for event in story.breakdown] == [1089, 1285, 304]
    assert story.projection == ()
    assert [(r.n_prompt, r.n_cached) for r in story.requests] == [(3154, 3154)]


def test_devices_with_ids_are_named_as_the_runner_names_them() -> None:
    listed = log("ollama-2024-05-1070").all(Fact.DEVICE_LISTED)
    assert [event.word("device") for event in listed] == ["CUDA0", "CUDA1"]
    assert {event.word("description") for event in listed} == {"NVIDIA GeForce GTX 1070"}
    assert listed[0].word("id").startswith("GPU-4eff")


def test_model_that_guesses_ahead_is_a_load_of_its_own() -> None:
    first, second = log("mlx-lms-2025-03-draft").loads
    assert (first.program, first.engine, first.is_draft) == ("LM Studio", "MLX", False)
    assert second.is_draft
    assert (second.path or "").endswith("DeepSeek-R1-Distill-Qwen-7B-4bit")
    assert "-lv 4" not in first.note  # it is no option of LM Studio


@pytest.mark.parametrize(
    ("name", "rates"),
    [
        ("kobold-2024-03-vulkan", [(1171, 27.17), (209, 4.74)]),
        ("mlx-lms-2025-09-stats", [(2523, 62.67)]),
        ("bench-2026-04-in-issue", [(64, 1053.91), (128, 1005.84)]),
    ],
)
def test_rates_have_their_tokens(name: str, rates: list[tuple[int, float]]) -> None:
    found = [(event.whole("n"), round(event.number("tps"), 2)) for event in load(name).rates]
    assert found == rates


def test_prefix_of_a_journal_in_any_language_is_taken_off() -> None:
    listed = log("ollama-2025-07-rocm-ru").last(Fact.DEVICE_LISTED)
    assert listed is not None
    assert (listed.word("device"), listed.number("total_mib")) == ("ROCm0", 8192)
    assert listed.text.startswith("time=")
    skipped = log("ollama-2025-07-rocm-ru").last(Fact.HARMLESS)
    assert skipped is not None and skipped.line == 3


def test_slots_and_requests_of_the_old_server_are_counted() -> None:
    story = load("ik-2025-04-mla")
    assert (story.n_slots, story.n_ctx_slot) == (1, 8192)
    assert [(r.task, r.n_cached) for r in story.requests] == [(0, 0)]
