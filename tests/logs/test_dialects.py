"""Logs of other programs: whole stories from their lines, and llama.cpp's lines inside them."""

from pathlib import Path

import pytest

from app.core.log import BufferKind, Ended, Fact, LoadStory, Role
from app.logs import lines
from app.logs.figures import MIB
from app.logs.scan import scan_file, scan_text

DATA = Path(__file__).parents[1] / "data" / "logs"
LLAMA = (DATA / "b10434-vulkan-partial-ngl9-lv4.log").read_text()
SLOG = "time=2026-06-06T07:22:24.799+02:00 level=INFO source=server.go:1 msg="
SERVER = SLOG + '"Listening on 127.0.0.1:11434 (version 0.30.7)"\n'
GPU = (
    SLOG.replace("server.go:1", "types.go:32")
    + '"inference compute" id=0 filter_id=0 library=Vulkan compute=0.0 name=Vulkan0 '
    'description="llvmpipe" libdirs=ollama driver=0.0 pci_id="" type=discrete '
    'total="2.0 GiB" available="2.0 GiB"\n'
)
CHILD = SLOG + '"starting llama-server" cmd="/usr/lib/ollama/llama-server --model /m/{} -ngl 9"\n'
# stock llama-server without prefix, as Ollama 0.30 starts it
PLAIN = "".join(f"{lines.strip(line)[0]}\n" for line in LLAMA.splitlines())


def load(text: str) -> LoadStory:
    found = scan_text(text).load
    assert found is not None
    return found


def test_child_of_ollama_is_read_like_llama_server_itself() -> None:
    alone, inside = load(LLAMA), load(SERVER + GPU + CHILD.format("a") + PLAIN)
    assert inside.buffers and len(inside.buffers) == len(alone.buffers)
    for one, other in zip(alone.buffers, inside.buffers, strict=True):
        assert (one.name, one.kind, one.n_bytes) == (other.name, other.kind, other.n_bytes)
    assert (inside.program, inside.version, inside.engine) == ("Ollama", "0.30.7", "llama-server")
    assert (alone.program, alone.version) == ("llama-server", "")


def test_each_load_of_a_server_keeps_what_the_server_said_once() -> None:
    child = CHILD.format("a") + PLAIN
    log = scan_text(SERVER + GPU + child + child.replace("/m/a", "/m/b") + child)
    assert len(log.loads) == 3
    for story in log.loads:
        assert (story.program, story.version) == ("Ollama", "0.30.7")
        listed = [e for e in story.events if e.fact is Fact.DEVICE_LISTED and "type" in e.values]
        assert len(listed) == 1
        assert story.weights_on_device is True


def test_server_that_begins_anew_forgets_its_devices() -> None:
    again = SERVER.replace("0.30.7", "0.33.0") + CHILD.format("a") + PLAIN
    log = scan_text(SERVER + GPU + CHILD.format("a") + PLAIN + again)
    assert [story.version for story in log.loads] == ["0.30.7", "0.33.0"]
    assert not [e for e in log.loads[1].events if "library" in e.values]


def test_header_that_is_read_for_its_words_is_no_load() -> None:
    header = (
        "llama_model_loader: loaded meta data with 19 key-value pairs and 111 tensors from /m/a "
        "(version GGUF V3 (latest))\n"
    )
    words = header + "llama_model_load: vocab only - skipping tensors\n"
    command = SLOG + '"starting llama server" cmd="/usr/bin/ollama runner --model /m/a"\n'
    loaded = header + "load_tensors:        CUDA0 model buffer size =  4403.00 MiB\n"
    log = scan_text(SERVER + words + command + loaded)
    assert len(log.loads) == 1
    assert log.loads[0].weights_on_device is True
    assert log.loads[0].path == "/m/a"


def test_engine_of_ollama_tells_of_weights_and_the_model_by_its_command() -> None:
    text = SERVER + (
        f'{SLOG}"starting runner" cmd="/usr/bin/ollama runner --ollama-engine --model /m/a"\n'
        f'{SLOG}"starting ollama engine"\n{SLOG}"offloaded 33/33 layers to GPU"\n'
        f'{SLOG}"model weights" device=CUDA0 size="4.3 GiB"\n'
        f'{SLOG}"model weights" device=CPU size="333.8 MiB"\n'
        f'{SLOG}"kv cache" device=CUDA0 size="512.0 MiB"\n'
        f'{SLOG}"llama runner started in 2.51 seconds"\n'
    )
    story = load(text)
    assert (story.engine, story.path) == ("Ollama's engine", "/m/a")
    assert story.bytes_of(BufferKind.DEVICE, Role.WEIGHTS) == round(4.3 * 1024 * MIB)
    assert story.bytes_of(BufferKind.HOST, Role.WEIGHTS) == round(333.8 * MIB)
    assert story.offload_line == (33, 33)
    assert story.ends_after == "the program was ready"


def test_runner_that_is_killed_is_told_from_one_that_crashed() -> None:
    error = 'level=ERROR source=sched.go:4 msg="error loading llama server" error="{}"\n'
    killed = error.format("llama runner process has terminated: signal: killed")
    crashed = error.format("llama runner process has terminated: exit status 0xc0000409")
    start = SERVER + CHILD.format("a") + PLAIN[: PLAIN.index("load_tensors:")]
    assert load(start + killed).ended is Ended.KILLED
    assert load(start + crashed).ended is Ended.CRASHED


@pytest.mark.parametrize(
    "wrapper",
    [
        "Dec 14 18:01:09 host ollama[1234]: ",
        "llama-1  | ",
        "[stdout] ",
        "2026-10-11T10:11:12.123456789Z ",
        "[2025-09-01][10:11:12][tauri_plugin_llamacpp::commands][INFO] [llamacpp] ",
        "[2025-08-01 12:00:00][INFO][model.gguf] ",
        "INFO [llamacpp-router stdout] [45979] ",
        "2026-10-11T10:11:12Z llama-1  | ",
    ],
)
@pytest.mark.parametrize(
    "name", ["b11434-cpu-lv4-no-prefix-no-timestamps.log", "b10434-vulkan-partial-ngl9-lv4.log"]
)
def test_lines_that_others_wrap_tell_the_same(wrapper: str, name: str) -> None:
    text = (DATA / name).read_text()
    alone = load(text)
    inside = load("".join(f"{wrapper}{line}\n" for line in text.splitlines()))
    assert inside.buffers == alone.buffers
    assert inside.devices_listed == alone.devices_listed
    assert inside.offload_line == alone.offload_line
    assert inside.ended is alone.ended
    assert [e.fact for e in inside.events if e.fact is not Fact.PROGRAM] == [
        e.fact for e in alone.events
    ]


def test_program_that_wraps_each_line_is_named_once() -> None:
    wrapper = "INFO [llamacpp-router stdout] [45979] "
    log = scan_text("".join(f"{wrapper}{line}\n" for line in LLAMA.splitlines()))
    assert len(log.all(Fact.PROGRAM)) == 1
    assert log.load is not None and log.load.program == "Jan"


@pytest.mark.parametrize("cut", [1, 7, 23, 60])
def test_fragment_that_starts_within_a_line_keeps_its_buffers(cut: int) -> None:
    start = LLAMA.index("load_tensors:") - 20
    alone, pasted = load(LLAMA), load(LLAMA[start - cut :])
    assert pasted.weights_on_device is True
    assert [b.n_bytes for b in pasted.buffers] == [b.n_bytes for b in alone.buffers]


def test_server_of_2024_is_read_in_json_and_in_text() -> None:
    rate = (
        "prompt eval time     =     111.62 ms /    14 tokens (    7.97 ms per token,   125.42 "
        "tokens per second)"
    )
    as_json = (
        '{"tid":"1402","timestamp":1714000000,"level":"INFO","function":"print_timings",'
        f'"line":265,"msg":"{rate}","id_slot":0,"id_task":0}}\n'
    )
    as_text = f'INFO [           print_timings] {rate} | tid="1402" timestamp=1714000000\n'
    for text in (as_json, as_text):
        assert [(e.fact, e.whole("n")) for e in load(text).rates] == [(Fact.PROMPT_RATE, 14)]


def test_memory_of_2023_is_of_the_gpus_and_of_the_system() -> None:
    story = load(
        "llm_load_tensors: using CUDA for GPU acceleration\n"
        "llm_load_tensors: mem required  =   70.44 MiB\n"
        "llm_load_tensors: offloaded 35/35 layers to GPU\n"
        "llm_load_tensors: VRAM used: 3521.56 MiB\n"
        "llama_kv_cache_init: VRAM kv self = 256.00 MiB\n"
    )
    assert story.weights_on_device is True
    assert story.bytes_of(BufferKind.DEVICE, Role.WEIGHTS) == round(3521.56 * MIB)
    assert story.bytes_of(BufferKind.DEVICE, Role.KV) == 256 * MIB
    assert story.bytes_of(BufferKind.HOST, Role.WEIGHTS) == round(70.44 * MIB)


def test_request_of_koboldcpp_gives_both_rates_with_their_tokens() -> None:
    story = load(
        "Welcome to KoboldCpp - Version 1.93.2\n"
        "load_tensors:        CUDA0 model buffer size =  4403.00 MiB\n"
        "[12:34:56] CtxLimit:512/4096, Amt:100/100, Init:0.01s, Process:1.23s (335.12T/s), "
        "Generate:4.56s (21.93T/s), Total:5.79s\n"
    )
    assert (story.program, story.version) == ("KoboldCpp", "1.93.2")
    assert [(e.whole("n"), e.number("tps")) for e in story.rates] == [(412, 335.12), (100, 21.93)]


def test_log_of_vllm_is_a_load_with_weights_on_the_gpu() -> None:
    story = load(
        "INFO 07-30 11:55:02 [core.py:58] Initializing a V1 LLM engine (v0.10.0) with config: "
        "model='/m/a', speculative_config=None\n"
        "INFO 07-30 11:55:40 [gpu_model_runner.py:1801] Model loading took 14.99 GiB and 5.1 "
        "seconds\n"
        "INFO 07-30 11:56:03 [gpu_worker.py:255] Available KV cache memory: 3.20 GiB\n"
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.96 GiB. GPU 0 has a\n"
        "RuntimeError: Engine core initialization failed. See root cause above.\n"
    )
    assert (story.program, story.version, story.path) == ("vLLM", "0.10.0", "/m/a")
    assert story.weights_on_device is True
    assert [e.fact for e in story.errors] == [Fact.ERROR_MEMORY, Fact.ERROR_CONSEQUENCE]
    assert story.ended is Ended.FAILED


def test_captures_of_llama_cpp_name_no_other_program() -> None:
    for path in sorted(DATA.glob("*.log")):
        assert {s.program for s in scan_file(path).loads} <= {
            "llama.cpp",
            "llama-server",
            "llama-bench",
        }
