"""The options of a load, shared by the subcommands that plan or run one."""

import argparse
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from dataclasses import replace

from app.core import quants
from app.core.request import LoadRequest, SplitMode, Switch, Tool

_NGL_WORDS = {"auto": -1, "all": -2}
# what a program is told instead of all: older builds know no word for it
_MORE_THAN_ANY_LAYERS = 999
NO_DEVICE = "none"
_LOAD_MODES = ("auto", "none", "mmap", "mlock", "mmap+mlock", "dio")
_MOST = 1 << 31
_MOST_SLOTS = 256  # LLAMA_MAX_SEQ, build 11434


def add_load_options(parser: ArgumentParser) -> None:
    """Add what llama-server and llama-bench share; names and meanings are llama.cpp's."""
    load = parser.add_argument_group("the load (llama.cpp's own options)")
    load.add_argument("--ngl", type=layers, metavar="N|auto", help="layers to offload (auto: all)")
    load.add_argument("--cache-type-k", choices=quants.CACHE_TYPES, default="f16")
    load.add_argument("--cache-type-v", choices=quants.CACHE_TYPES, default="f16")
    load.add_argument("--flash-attn", type=Switch, choices=list(Switch), default=Switch.AUTO,
                      metavar="on|off|auto")  # fmt: skip
    load.add_argument("--batch", type=count(1), default=2048, metavar="N")
    load.add_argument("--ubatch", type=count(1), default=512, metavar="N")
    load.add_argument("--no-kv-offload", action="store_true", help="keep the cache on the host")
    load.add_argument("--split-mode", type=SplitMode, choices=list(SplitMode),
                      default=SplitMode.LAYER, metavar="none|layer|row")  # fmt: skip
    load.add_argument("--main-gpu", type=int, default=0, metavar="N")
    load.add_argument("--tensor-split", type=_shares, default=(), metavar="A,B")
    load.add_argument("--cpu-moe", action="store_true", help="all experts on the host")
    load.add_argument("--n-cpu-moe", type=count(0), default=0, metavar="N",
                      help="experts of the first N blocks on the host")  # fmt: skip
    load.add_argument("--n-cpu-ffn", type=count(0), default=0, metavar="N")
    load.add_argument("--override-tensor", type=_overrides, action="append", default=[],
                      metavar="RE=BUF", help="put tensors into a buffer by name")  # fmt: skip
    load.add_argument("--no-host", action="store_true", help="no pinned host buffers")
    load.add_argument("--no-repack", action="store_true", help="no repacked weights on the host")
    load.add_argument("--no-op-offload", action="store_true")
    load.add_argument("--load-mode", choices=_LOAD_MODES, default="auto", metavar="M",
                      help=", ".join(_LOAD_MODES))  # fmt: skip
    load.add_argument("--fit-target", type=mebibytes, default=(), metavar="MIB[,MIB...]",
                      help="free memory --fit leaves on each device (default 1024): one for "
                      "all, or one a device")  # fmt: skip
    load.add_argument("--fit-ctx", type=count(1), metavar="N",
                      help="smallest context --fit may choose (default 4096)")  # fmt: skip
    parser.set_defaults(ctx=None, parallel=None, swa_full=False)


def add_server_options(parser: ArgumentParser) -> None:
    """Add what only a server is told."""
    server = parser.add_argument_group("the load of a server")
    server.add_argument("--parallel", type=count(1, _MOST_SLOTS), metavar="N",
                        help="slots of the server")  # fmt: skip
    server.add_argument("--swa-full", action="store_true", help="full-size sliding-window cache")


def add_run_options(parser: ArgumentParser) -> None:
    """Add what only matters when a program is really run."""
    run = parser.add_argument_group("the run")
    run.add_argument("--llama-bin", metavar="DIR",
                     help="folder with llama.cpp's programs (default: the one chosen in the "
                     "window, then those found on this computer)")  # fmt: skip
    run.add_argument("--device", type=_devices, default=(), metavar="LIST|none",
                     help="devices to use, by llama.cpp's names (default: all)")  # fmt: skip
    run.add_argument("--rpc", type=_servers, default=(), metavar="HOST:PORT[,...]",
                     help="devices that llama.cpp reaches through ggml-rpc-server")  # fmt: skip
    run.add_argument("--threads", type=count(1), metavar="N", help="threads of the CPU")


def request_of(options: Namespace, tool: Tool) -> LoadRequest:
    """Return the request that the options describe."""
    return LoadRequest(
        tool=tool,
        ngl=options.ngl,
        ctx=options.ctx,
        cache_type_k=options.cache_type_k,
        cache_type_v=options.cache_type_v,
        flash_attn=options.flash_attn,
        batch=options.batch,
        ubatch=options.ubatch,
        parallel=options.parallel,
        kv_offload=not options.no_kv_offload,
        swa_full=options.swa_full,
        main_gpu=options.main_gpu,
        split_mode=options.split_mode,
        tensor_split=options.tensor_split,
        n_cpu_moe=options.n_cpu_moe,
        cpu_moe=options.cpu_moe,
        n_cpu_ffn=options.n_cpu_ffn,
        overrides=tuple(pair for pairs in options.override_tensor for pair in pairs),
        host_buffers=not options.no_host,
        repack=not options.no_repack,
        op_offload=not options.no_op_offload,
        load_mode=options.load_mode,
        fit_target_mib=options.fit_target[0] if len(options.fit_target) == 1 else None,
        fit_targets_mib=options.fit_target if len(options.fit_target) > 1 else (),
        fit_ctx=options.fit_ctx,
    )


def run_request_of(options: Namespace, tool: Tool) -> LoadRequest:
    """Return the request for a program that is run."""
    request = request_of(options, tool)
    return replace(
        request,
        ngl=_MORE_THAN_ANY_LAYERS if request.ngl == _NGL_WORDS["all"] else request.ngl,
        threads=options.threads,
        rpc_servers=options.rpc,
        use_devices=options.device != (NO_DEVICE,),
        device_ids=() if options.device == (NO_DEVICE,) else options.device,
    )


def layers(text: str) -> int:
    """Read a number of layers, or auto and all as llama.cpp does."""
    return _NGL_WORDS[text] if text in _NGL_WORDS else _whole(text, -2)


def mebibytes(text: str) -> tuple[int, ...]:
    """Read a list of sizes in MiB."""
    return tuple(_whole(word, 0) for word in text.split(","))


def count(least: int, most: int = _MOST) -> Callable[[str], int]:
    """Return the reader of a whole number in a range."""
    return lambda text: _whole(text, least, most)


def _whole(text: str, least: int, most: int = _MOST) -> int:
    try:
        value = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None
    if not least <= value <= most:
        raise argparse.ArgumentTypeError(f"{value} is not between {least} and {most}")
    return value


def _devices(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(","))
    if not all(names):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of device names")
    if NO_DEVICE in names and len(names) > 1:
        raise argparse.ArgumentTypeError(f"{NO_DEVICE} stands alone")
    return names


def _servers(text: str) -> tuple[str, ...]:
    servers = tuple(word.strip() for word in text.split(","))
    for server in servers:
        host, _colon, port = server.rpartition(":")
        if not host or not port.isdigit():
            raise argparse.ArgumentTypeError(f"{server!r} is not HOST:PORT")
    return servers


def _shares(text: str) -> tuple[float, ...]:
    try:
        shares = tuple(float(word) for word in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of numbers") from None
    if not all(0 <= share < _MOST for share in shares):
        raise argparse.ArgumentTypeError("shares are not negative")
    return shares


def _overrides(text: str) -> tuple[tuple[str, str], ...]:
    # parse_tensor_buffer_overrides in common/arg.cpp, build 11434: pairs with commas between
    pairs = []
    for word in text.split(","):
        pattern, separator, buffer = word.partition("=")
        if not separator or not pattern or not buffer:
            raise argparse.ArgumentTypeError(f"{word!r} is not REGEX=BUFFER")
        pairs.append((pattern, buffer))
    return tuple(pairs)
