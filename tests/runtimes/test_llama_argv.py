"""Commands for llama-server and llama-bench: only flags that the build has."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.machine import Program
from app.core.probe import LoadWish
from app.core.request import LoadRequest, SplitMode, Switch
from app.runtimes import llama_argv
from app.runtimes.llama_outputs import parse_help
from tests.runtimes import data


def _program(name: str, help_file: str) -> Program:
    return Program(name, f"/opt/{name}", parse_help(data(help_file)))


SERVER = _program("llama-server", "b11434-llama-server-help.txt")
BENCH = _program("llama-bench", "b11434-llama-bench-help.txt")
FORMER = _program("llama-server", "b10434-llama-server-help.txt")
OLD_HELP = """-c,    --ctx-size N                     size of the prompt context
-fa,   --flash-attn                     enable Flash Attention (default: disabled)
--no-mmap                               do not memory-map model
-ngl,  --gpu-layers, --n-gpu-layers N   number of layers to store in VRAM
"""
OLD = Program("llama-server", "/opt/old", parse_help(OLD_HELP))

REQUESTS = st.builds(
    LoadRequest,
    ngl=st.none() | st.integers(-1, 99),
    ctx=st.none() | st.integers(0, 40960),
    cache_type_k=st.sampled_from(["f16", "q8_0"]),
    cache_type_v=st.sampled_from(["f16", "q4_0"]),
    flash_attn=st.sampled_from(Switch),
    batch=st.sampled_from([2048, 512]),
    ubatch=st.sampled_from([512, 256]),
    parallel=st.none() | st.integers(1, 8),
    kv_offload=st.booleans(),
    swa_full=st.booleans(),
    use_devices=st.booleans(),
    device_ids=st.sampled_from([(), ("CUDA0",), ("CUDA0", "CUDA1")]),
    main_gpu=st.integers(0, 1),
    split_mode=st.sampled_from(SplitMode),
    tensor_split=st.sampled_from([(), (3.0, 1.0), (0.5, 0.25)]),
    n_cpu_moe=st.integers(0, 3),
    cpu_moe=st.booleans(),
    n_cpu_ffn=st.integers(0, 2),
    overrides=st.sampled_from([(), ((r"blk\.1\.ffn_up", "CPU"),)]),
    host_buffers=st.booleans(),
    repack=st.booleans(),
    op_offload=st.booleans(),
    load_mode=st.sampled_from(["auto", "none", "mmap", "mlock", "mmap+mlock", "dio"]),
    fit_target_mib=st.none() | st.just(512),
    fit_targets_mib=st.sampled_from([(), (512, 2048)]),
    fit_ctx=st.none() | st.just(8192),
    threads=st.none() | st.just(4),
)


def _flags(words: tuple[str, ...]) -> list[str]:
    return [word for word in words if word.startswith("-") and not word[1:2].isdigit()]


@given(REQUESTS)
def test_names_only_flags_that_the_program_has(request: LoadRequest) -> None:
    for program in (SERVER, FORMER, OLD):
        words = llama_argv.server_argv(program, "m.gguf", request, port=9)[3:]
        # the two that every server has
        unknown = [f for f in _flags(words) if not program.supports(f)]
        assert set(unknown) <= {"--host", "--port"}
    words = llama_argv.bench_argv(BENCH, "m.gguf", request)
    assert [flag for flag in _flags(words) if not BENCH.supports(flag)] == []


@given(REQUESTS)
def test_gives_a_value_exactly_where_the_help_shows_one(request: LoadRequest) -> None:
    for program, words in (
        (SERVER, llama_argv.server_options(request, SERVER).words),
        (OLD, llama_argv.server_options(request, OLD).words),
        (BENCH, llama_argv.bench_options(request, BENCH).words),
    ):
        rest = list(words)
        while rest:
            flag = program.flag(rest.pop(0))
            assert flag is not None
            if flag.value:
                assert rest and not rest[0].startswith("--")
                rest.pop(0)


def test_says_nothing_where_all_is_default() -> None:
    assert llama_argv.server_options(LoadRequest(), SERVER).words == ()
    assert llama_argv.bench_options(LoadRequest(), BENCH).words == ()
    assert llama_argv.server_options(LoadRequest(ngl=-1), SERVER).words == ()


def test_an_explicit_context_of_zero_forbids_shrinking() -> None:
    assert llama_argv.server_options(LoadRequest(ctx=0), SERVER).words == ("-c", "0")


@pytest.mark.parametrize(
    ("program", "mode", "words"),
    [
        (SERVER, "none", ("--load-mode", "none")),
        (SERVER, "mmap+mlock", ("--load-mode", "mmap+mlock")),
        (FORMER, "none", ("--load-mode", "none")),
        (OLD, "none", ("--no-mmap",)),
        (OLD, "mmap", ()),
        (None, "mlock", ("--load-mode", "mlock")),
    ],
)
def test_spells_the_load_mode_as_the_build_does(
    program: Program | None, mode: str, words: tuple[str, ...]
) -> None:
    assert llama_argv.server_options(LoadRequest(load_mode=mode), program).words == words


def test_says_what_a_build_cannot_be_told() -> None:
    options = llama_argv.server_options(LoadRequest(load_mode="mlock", kv_offload=False), OLD)
    assert options.words == ()
    assert options.left_out == ("load mode", "cache on the host")
    text = llama_argv.command_text(LoadWish(LoadRequest(kv_offload=False)), OLD)
    assert text == (
        "llama-server -m MODEL.gguf\n# this llama-server has no flag for: cache on the host"
    )


def test_flash_attention_is_a_switch_in_old_builds() -> None:
    on, off = LoadRequest(flash_attn=Switch.ON), LoadRequest(flash_attn=Switch.OFF)
    assert llama_argv.server_options(on, SERVER).words == ("-fa", "on")
    assert llama_argv.server_options(on, OLD).words == ("-fa",)
    assert llama_argv.server_options(off, OLD).words == ()


def test_bench_writes_parts_with_slashes_because_commas_are_sweeps() -> None:
    request = LoadRequest(
        ngl=9, device_ids=("CUDA0", "CUDA1"), tensor_split=(3, 1), kv_offload=False, n_cpu_ffn=2
    )
    words = llama_argv.bench_options(request, BENCH).words
    assert words == (
        "-ngl", "9", "-dev", "CUDA0/CUDA1", "-ts", "3/1",
        "-ot", r"blk\.0\.ffn_(up|down|gate)\.=CPU;blk\.1\.ffn_(up|down|gate)\.=CPU",
        "-nkvo", "1",
    )  # fmt: skip


def test_bench_says_what_it_has_no_setting_for() -> None:
    request = LoadRequest(parallel=4, swa_full=True)
    left_out = llama_argv.bench_options(request, BENCH).left_out
    assert left_out == ("parallel slots", "full-size window cache")


def test_a_server_of_ours_is_reached_from_this_computer_only() -> None:
    words = llama_argv.server_argv(SERVER, "m.gguf", LoadRequest(ngl=3), port=1234)
    assert words[:5] == ("/opt/llama-server", "-m", "m.gguf", "-ngl", "3")
    assert words[5:] == (
        "--host", "127.0.0.1", "--port", "1234", "-lv", "4", "--offline", "--no-ui",
    )  # fmt: skip
    assert "--log-jsonl" in llama_argv.server_argv(
        SERVER, "m", LoadRequest(), port=1, log_jsonl=True
    )
    assert "--log-jsonl" not in llama_argv.server_argv(
        FORMER, "m", LoadRequest(), port=1, log_jsonl=True
    )


def test_a_program_without_help_gets_the_current_form() -> None:
    unknown = replace(SERVER, flags=())
    words = llama_argv.server_argv(unknown, "m", LoadRequest(load_mode="none"), port=1)
    assert "--load-mode" in words and "-lv" in words


def test_quotes_what_a_shell_would_take_apart() -> None:
    request = LoadRequest(overrides=(("ffn_(up|down)", "CPU"),))
    posix = LoadWish(request, "/models/my model.gguf")
    assert llama_argv.command_text(posix) == (
        "llama-server -m '/models/my model.gguf' -ot 'ffn_(up|down)=CPU'"
    )
    windows = LoadWish(request, r"C:\Models\my model.gguf", platform="win32")
    assert llama_argv.command_text(windows) == (
        r'llama-server -m "C:\Models\my model.gguf" -ot "ffn_(up|down)=CPU"'
    )


def test_gives_a_margin_for_each_device_where_there_is_a_list() -> None:
    request = LoadRequest(fit_targets_mib=(512, 2048))
    assert llama_argv.server_options(request, SERVER).words == ("-fitt", "512,2048")
    # a list is a sweep for llama-bench
    assert "fit margins by device" in llama_argv.bench_options(request, BENCH).left_out


def test_a_plain_draft_needs_its_type_where_the_build_has_the_option() -> None:
    request = LoadRequest(
        draft_path="d.gguf", draft_type="draft-simple", projector_path="p.gguf",
        projector_offload=False,
    )  # fmt: skip
    words = llama_argv.server_options(request, SERVER).words
    assert words == (
        "--mmproj", "p.gguf", "--no-mmproj-offload", "-md", "d.gguf", "--spec-type", "draft-simple",
    )  # fmt: skip
    older = Program("llama-server", "/opt/old", parse_help(OLD_HELP + "-md, --model-draft F  x\n"))
    options = llama_argv.server_options(replace(request, projector_path=""), older)
    assert options.words == ("-md", "d.gguf")
    assert options.left_out == ()
