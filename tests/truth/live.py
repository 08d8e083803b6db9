"""Runs llama.cpp's dry pass and reads what it says: the live half of the truth file."""

import os
import re
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from app.core.log import Fact, LoadStory, LogEvent
from app.core.machine import CpuKind, Device, DeviceKind, Host, Machine, Program
from app.core.request import LoadRequest
from app.core.units import GIB, MIB
from app.logs.scan import scan
from app.probes import cpu
from app.probes.host import RealHost
from app.runtimes import llama_argv
from tests.truth.rows import Fitted, Said, _fitted

_TABLE, _ROW = "memory breakdown [MiB]", "common_memory_breakdown_print"
_FITTED = re.compile(r"^-c \d+ -ngl ")
_END_OF_FIT = ("successfully fit params", "failed to fit params", "encountered an error while")
_MOST_S = 60
_LISTENS = "listening on http"
_ATTEMPTS = (
    4  # a thread of its own writes the log: now and then the end comes before its last lines
)
VULKAN_LIMIT = 128 * MIB  # the largest storage buffer of the software device


@dataclass(frozen=True, slots=True)
class Backend:
    """A program, how it reaches its devices, and what the planner must know of them."""

    name: str
    program: Path
    words: tuple[str, ...]
    build: int
    kinds: tuple[DeviceKind, ...]

    def devices(self, rows: tuple[Said, ...]) -> tuple[Device, ...]:
        """Return the devices, with the free memory that the run printed."""
        free = {row.buffer: row.free for row in rows}
        limit = VULKAN_LIMIT if DeviceKind.VULKAN in self.kinds else None
        found = []
        for i, kind in enumerate(self.kinds):
            name = f"Vulkan{i}" if kind is DeviceKind.VULKAN else f"RPC{i}"
            left = free.get(name)
            n_bytes = None if left is None else left * MIB
            is_software = kind is DeviceKind.VULKAN
            found.append(Device(name, kind, "", n_bytes, n_bytes, "live", limit, is_software))
        return tuple(found)

    def host(self) -> Host:
        """Return the host as this program's CPU backend sees it."""
        kind = CpuKind.AVX2  # build 11434 is compiled for it
        if DeviceKind.VULKAN in self.kinds:
            from app.core.host_memory import cpu_kind

            own = cpu_kind(Machine(facts=tuple(cpu.PROBE.read(RealHost()))))
            kind = CpuKind.AMX if own is CpuKind.AMX else CpuKind.AVX2
        return Host(kind, 24 * GIB, 23 * GIB)


@dataclass(frozen=True, slots=True)
class Run:
    """What one dry pass said."""

    rows: tuple[Said, ...]
    kv_mib: tuple[float, ...]
    lines: tuple[str, ...]
    fitted: Fitted | None

    @property
    def refusal(self) -> str:
        """Return the reason with which --fit gave up, "" when it did not."""
        words = "failed to fit params to free device memory: "
        return next((line.partition(words)[2] for line in self.lines if words in line), "")

    @property
    def reduced_to(self) -> int | None:
        """Return the context that the fit came to, None when it kept it."""
        found = [re.search(r"context size reduced from \d+ to (\d+)", line) for line in self.lines]
        return next((int(match[1]) for match in reversed(found) if match), None)


@contextmanager
def rpc_servers(program: Path, n: int) -> Iterator[tuple[str, ...]]:
    """Run servers on free ports of this computer and give their endpoints."""
    endpoints, running = [], []
    try:
        for _ in range(n):
            with socket.socket() as found:
                found.bind(("127.0.0.1", 0))
                port = found.getsockname()[1]
            # `timeout` ends the server should the test itself be killed
            words = ("timeout", "-k", "1", "900", str(program), "-H", "127.0.0.1", "-p", str(port))
            server = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            running.append(server)
            while not _listens(port):
                assert server.poll() is None
            endpoints.append(f"127.0.0.1:{port}")
        yield tuple(endpoints)
    finally:
        for server in running:
            server.terminate()
            server.wait()


def _listens(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def dry_pass(
    backend: Backend, model: Path, request: LoadRequest, expected: frozenset[str] = frozenset()
) -> Run:
    """Return the table and the cache's lines of the first pass; nothing is loaded.

    It is asked again when a buffer that is expected, or a cache, has no line.
    """
    table = ("--fit-print", "on") if "fit-params" in backend.program.name else ()
    argv = _argv(backend, model, request, "5", *table)
    for _ in range(_ATTEMPTS):
        run = _run(argv, until_table=True)
        if run.kv_mib and expected <= {row.buffer for row in run.rows}:
            break
    return run


def fit(backend: Backend, model: Path, request: LoadRequest) -> Run:
    """Return what --fit decided, and the last table."""
    for _ in range(_ATTEMPTS):
        run = _run(_argv(backend, model, request, "4"), until_table=False)
        if any(words in line for line in run.lines for words in _END_OF_FIT):
            break
    return run


def loads(backend: Backend, model: Path, request: LoadRequest, *more: str) -> tuple[LoadStory, ...]:
    """Load for real with llama-server and return what its log says, a draft's load included."""
    argv = _argv(backend, model, request, "4", "--no-warmup", *more)
    argv = tuple("off" if argv[i - 1] == "-fit" else word for i, word in enumerate(argv))
    lines = _lines(argv, until=_LISTENS)
    return scan(lines).loads


def _lines(argv: tuple[str, ...], *, until: str) -> list[str]:
    process = _started(argv)
    assert process.stdout is not None
    lines: list[str] = []
    for line in process.stdout:
        lines.append(line.rstrip("\n"))
        if until in line:
            break
    process.terminate()
    process.communicate()
    return lines


def _argv(
    backend: Backend, model: Path, request: LoadRequest, level: str, *more: str
) -> tuple[str, ...]:
    options = llama_argv.server_options(request, Program(backend.program.name, "")).words
    is_server = "server" in backend.program.name
    port = ("--host", "127.0.0.1", "--port", "0") if is_server else ()
    load = ("-m", str(model), "-fit", "on", "-t", "1", "-lv", level)
    return (str(backend.program), *load, *backend.words, *options, *port, *more)


def _started(argv: tuple[str, ...]) -> subprocess.Popen[str]:
    env = {**os.environ, "GGML_VK_VISIBLE_DEVICES": "0"}
    # `timeout` ends the program should the test itself be killed
    words = ("timeout", "-k", "1", str(_MOST_S), *argv)
    return subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env
    )


def _run(argv: tuple[str, ...], *, until_table: bool) -> Run:
    process = _started(argv)
    assert process.stdout is not None
    lines: list[str] = []
    has_table = False
    for line in process.stdout:
        has_table = has_table or _TABLE in line
        if until_table and has_table and _ROW not in line:
            break
        lines.append(line.rstrip("\n"))
        is_decided = "server" in argv[0] and any(words in line for words in _END_OF_FIT)
        if not until_table and is_decided:
            break
    process.terminate()
    process.communicate()
    return _said(lines)


def _said(lines: list[str]) -> Run:
    summary = scan(lines)
    events = [e for load in summary.loads for e in (load.projection or load.breakdown)]
    kv = [event.number("mib") for event in summary.all(Fact.KV_SIZE)]
    final = next((line for line in lines if _FITTED.match(line)), None)
    return Run(
        tuple(_row(event) for event in events),
        tuple(kv),
        tuple(lines),
        _fitted(final) if final else None,
    )


def _row(event: LogEvent) -> Said:
    is_host = event.fact is Fact.BREAKDOWN_HOST
    return Said(
        event.word("row" if is_host else "device"),
        event.whole("model"),
        event.whole("context"),
        event.whole("compute"),
        None if is_host else event.whole("free"),
    )
