"""Builds the argument lists of llama-server and llama-bench, with flags that the build knows."""

from collections.abc import Iterator
from dataclasses import dataclass

from app.core.machine import Program
from app.core.probe import LoadWish
from app.core.request import LoadRequest, SplitMode, Switch
from app.runtimes import shell

# keys on a command line can be read by other users, so the key goes into the environment
API_KEY_VARIABLE = "LLAMA_API_KEY"
PLACEMENT_VERBOSITY = 4  # the lowest at which builds since about May 2026 show the placement
# LLM_FFN_EXPS_REGEX and LLM_FFN_DENSE_REGEX of llama.cpp common/common.h, build 11434
_EXPERTS = r"\.ffn_(up|down|gate|gate_up)_(ch|)exps"
_DENSE = r"blk\.{block}\.ffn_(up|down|gate)\."
_FORMER_MODES = {  # before --load-mode; mapping was the default
    "none": ("--no-mmap",),
    "mmap": (),
    "mlock": ("--mlock",),
    "mmap+mlock": ("--mlock",),
    "dio": ("--direct-io",),
}


@dataclass(frozen=True, slots=True)
class Options:
    """The words for a load, and the settings that this program cannot be told."""

    words: tuple[str, ...]
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Wish:
    """One setting and its spellings, the current one first; () = it is the default there."""

    name: str
    spellings: tuple[tuple[str, ...], ...]


def server_options(request: LoadRequest, program: Program | None = None) -> Options:
    """Return llama-server's options for what differs from its defaults.

    Without a program, or with one whose --help was not read, the form of build 11434.
    """
    return _chosen((*_common(request, program), *_server_only(request)), program)


def bench_options(request: LoadRequest, program: Program | None = None) -> Options:
    """Return llama-bench's options; the context follows from the test, so it is not told."""
    chosen = _chosen((*_common(request, program), *_bench_only(request)), program)
    missing = [
        name
        for name, is_set in (
            ("parallel slots", request.parallel is not None),
            ("fit margins by device", bool(request.fit_targets_mib)),
            ("full-size window cache", request.swa_full),
        )
        if is_set
    ]
    return Options(chosen.words, (*chosen.left_out, *missing))


def server_argv(
    program: Program,
    model_path: str,
    request: LoadRequest,
    *,
    port: int,
    verbosity: int = PLACEMENT_VERBOSITY,
    log_jsonl: bool = False,
) -> tuple[str, ...]:
    """Return the command of a server that only this computer reaches and that fetches nothing.

    The caller puts an API key into the environment under API_KEY_VARIABLE.
    """
    own: list[str] = ["--host", "127.0.0.1", "--port", str(port)]
    if _knows(program, "-lv"):
        own += ["-lv", str(verbosity)]
    if log_jsonl and program.supports("--log-jsonl"):
        own.append("--log-jsonl")
    if program.supports("--offline"):
        own.append("--offline")
    page = next((flag for flag in ("--no-ui", "--no-webui") if program.supports(flag)), None)
    if page:
        own.append(page)
    load = server_options(request, program).words
    return (program.path, "-m", model_path, *load, *own)


def bench_argv(
    program: Program,
    model_path: str,
    request: LoadRequest,
    *,
    n_prompt: int = 512,
    n_gen: int = 128,
    depth: int = 0,
    repetitions: int = 5,
) -> tuple[str, ...]:
    """Return the command that measures both rates and prints JSON lines, progress on stderr."""
    test = ["-p", str(n_prompt), "-n", str(n_gen), "-r", str(repetitions), "-o", "jsonl"]
    if depth:
        test += ["-d", str(depth)]
    if program.supports("--progress"):
        test.append("--progress")
    return (program.path, "-m", model_path, *bench_options(request, program).words, *test)


def command_text(wish: LoadWish, program: Program | None = None) -> str:
    """Return the llama-server command to copy; it names only flags the program has."""
    options = server_options(wish.request, program)
    words = ("llama-server", "-m", wish.model_path, *options.words)
    text = shell.line(words, platform=wish.platform)
    if not options.left_out:
        return text
    # a comment in every shell that this may be pasted into
    return f"{text}\n# this llama-server has no flag for: {', '.join(options.left_out)}"


def _knows(program: Program, flag: str) -> bool:
    return program.supports(flag) is not False


def _chosen(wishes: tuple[_Wish, ...], program: Program | None) -> Options:
    words: list[str] = []
    left_out = []
    for wish in wishes:
        for spelling in wish.spellings:
            if not spelling or program is None or _knows(program, spelling[0]):
                words += spelling
                break
        else:
            left_out.append(wish.name)
    return Options(tuple(words), tuple(left_out))


def _one(name: str, *words: str) -> _Wish:
    return _Wish(name, (words,))


def _common(request: LoadRequest, program: Program | None) -> Iterator[_Wish]:
    """Yield what llama-server and llama-bench spell alike."""
    if request.ngl is not None and request.ngl >= 0:
        yield _one("layers on the device", "-ngl", str(request.ngl))
    if request.cache_type_k != "f16":
        yield _one("cache type K", "-ctk", request.cache_type_k)
    if request.cache_type_v != "f16":
        yield _one("cache type V", "-ctv", request.cache_type_v)
    if request.flash_attn is not Switch.AUTO:
        yield _flash_attn(request.flash_attn, program)
    if request.batch != 2048:
        yield _one("batch", "-b", str(request.batch))
    if request.ubatch != 512:
        yield _one("micro-batch", "-ub", str(request.ubatch))
    if request.threads is not None:
        yield _one("threads", "-t", str(request.threads))
    if request.split_mode is not SplitMode.LAYER:
        yield _one("split mode", "-sm", request.split_mode.value)
    if request.main_gpu:
        yield _one("main GPU", "-mg", str(request.main_gpu))
    if request.rpc_servers:
        # the devices are listed where they are asked for, so the servers come first
        yield _one("devices by RPC", "--rpc", ",".join(request.rpc_servers))
    if request.n_cpu_moe:
        yield _one("expert layers on the CPU", "-ncmoe", str(request.n_cpu_moe))
    if request.fit_target_mib is not None and not request.fit_targets_mib:
        yield _one("fit margin", "-fitt", str(request.fit_target_mib))
    if request.fit_ctx is not None:
        yield _one("fit context", "-fitc", str(request.fit_ctx))
    if request.load_mode != "auto":
        former = _FORMER_MODES.get(request.load_mode)
        spellings = (("--load-mode", request.load_mode), *((former,) if former is not None else ()))
        yield _Wish("load mode", spellings)


def _flash_attn(position: Switch, program: Program | None) -> _Wish:
    flag = program.flag("-fa") if program else None
    # a switch without a value until August 2025, off by default
    if flag is not None and not flag.value:
        return _Wish("flash attention", (("-fa",) if position is Switch.ON else (),))
    return _one("flash attention", "-fa", position.value)


def _server_only(request: LoadRequest) -> Iterator[_Wish]:
    if request.fit_targets_mib:
        margins = ",".join(str(mib) for mib in request.fit_targets_mib)
        yield _one("fit margins by device", "-fitt", margins)
    if request.projector_path:
        yield _one("vision part", "--mmproj", request.projector_path)
        if not request.projector_offload:
            yield _one("vision part on the host", "--no-mmproj-offload")
    if request.draft_path:
        yield _one("draft model", "-md", request.draft_path)
    if request.draft_path and request.draft_type:
        # builds with this option load a draft but ask it for nothing unless it is told
        # (common_speculative_init, build 11434); before, the draft alone was enough
        yield _Wish("draft type", (("--spec-type", request.draft_type), ()))
    if request.ctx is not None:
        yield _one("context", "-c", str(request.ctx))
    if request.parallel is not None:
        yield _one("parallel slots", "-np", str(request.parallel))
    if not request.use_devices:
        yield _one("no device", "-dev", "none")
    elif request.device_ids:
        yield _one("devices", "-dev", ",".join(request.device_ids))
    if request.tensor_split:
        yield _one("split", "-ts", ",".join(f"{share:g}" for share in request.tensor_split))
    if request.cpu_moe:
        yield _one("experts on the CPU", "-cmoe")
    if request.n_cpu_ffn:
        yield _one("feed-forward layers on the CPU", "-ncffn", str(request.n_cpu_ffn))
    for pattern, buffer in request.overrides:
        yield _one("tensors moved by name", "-ot", f"{pattern}={buffer}")
    if not request.kv_offload:
        yield _one("cache on the host", "-nkvo")
    if request.swa_full:
        yield _one("full-size window cache", "--swa-full")
    if not request.host_buffers:
        yield _one("no host buffers", "--no-host")
    if not request.repack:
        yield _Wish("no repacking", (("--no-repack",), ("-nr",)))
    if not request.op_offload:
        yield _one("no operations offloaded", "--no-op-offload")


def _bench_only(request: LoadRequest) -> Iterator[_Wish]:
    """Yield llama-bench's own spellings: lists by comma are sweeps, so parts go by slash."""
    if not request.use_devices:
        yield _one("no device", "-dev", "none")
    elif request.device_ids:
        yield _one("devices", "-dev", "/".join(request.device_ids))
    if request.tensor_split:
        yield _one("split", "-ts", "/".join(f"{share:g}" for share in request.tensor_split))
    moved = [f"{pattern}={buffer}" for pattern, buffer in request.overrides]
    if request.cpu_moe:
        moved.append(f"{_EXPERTS}=CPU")
    moved += [f"{_DENSE.format(block=block)}=CPU" for block in range(request.n_cpu_ffn)]
    if moved:
        yield _one("tensors moved by name", "-ot", ";".join(moved))
    if not request.kv_offload:
        yield _one("cache on the host", "-nkvo", "1")
    if not request.host_buffers:
        yield _one("no host buffers", "--no-host", "1")
    if not request.repack:
        yield _one("no repacking", "--repack", "0")
    if not request.op_offload:
        yield _one("no operations offloaded", "-nopo", "1")
