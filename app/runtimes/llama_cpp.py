"""Finds llama.cpp's programs, also inside other runtimes, and asks them which devices they see."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

from app.core.host import CommandResult, Host
from app.core.machine import Device, Flag, Program, Runtime
from app.core.probe import RuntimeProbe
from app.core.reading import State
from app.core.secrets import hidden_argv
from app.runtimes import (
    jan,
    llama_argv,
    llama_outputs,
    llama_server,
    lm_studio,
    mach_o,
    ollama,
)
from app.runtimes.llama_server import RunningServer
from app.runtimes.places import executable, folder_of, join, variable

ID = "llama.cpp"
TITLE = "llama.cpp"
PROGRAMS = (
    "llama-server",
    "llama-bench",
    "llama-fit-params",
    "llama-cli",
    "llama-gguf-split",
    "llama-quantize",
    "ggml-rpc-server",
)
CHOSEN = "chosen folder"  # the source of what lies in a folder that the user named
# their options are read, because commands for them are shown and run
_WITH_HELP = ("llama-server", "llama-bench")
_VERSION_S = 1.5
_DEVICES_S = 3.0  # CUDA takes 1 to 2 s to start
_MAX_ASKED = 4  # runtimes that are run; more are only listed
_MAX_FOLDERS = 60
_INSIDE = ("", "bin", "build/bin", "build/bin/Release", "bin/Release")


@dataclass(frozen=True, slots=True)
class DeviceList:
    """What a program says it can use; the state tells an empty list from no list."""

    devices: tuple[Device, ...]
    state: State
    source: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """A folder that may hold the programs, and how it came to be looked into."""

    folder: str
    source: str
    title: str = TITLE


def find(host: Host, folders: tuple[str, ...] = ()) -> tuple[Runtime, ...]:
    """Return the llama.cpp installations, the user's own folders first, and what runs of them."""
    found = list(installed(host, folders))
    for server in llama_server.running(host):
        folder = folder_of(host, host.real_path(server.exe)) if server.exe else ""
        own = next((i for i, r in enumerate(found) if folder and _is_in(host, r, folder)), None)
        if own is None:
            found.append(_running(server, folder))
        else:
            found[own] = replace(
                found[own],
                is_running=True,
                loaded=server.loaded,
                port=server.port,
                argv=hidden_argv(server.argv),
            )
    return tuple(found)


def installed(host: Host, folders: tuple[str, ...] = ()) -> tuple[Runtime, ...]:
    """Return the llama.cpp installations, each once."""
    found: list[Runtime] = []
    seen: set[str] = set()
    n_silent = 0
    for place in places(host, folders):
        names = frozenset(host.list_dir(place.folder))
        programs = tuple(
            Program(name, join(host, place.folder, executable(host, name)))
            for name in PROGRAMS
            if executable(host, name) in names
        )
        # a link in PATH and the folder it points to are one installation
        real = host.real_path(programs[0].path) if programs else ""
        if not programs or real in seen:
            continue
        seen.add(real)
        # two programs that did not answer are enough: the search as a whole has a time limit
        may_ask = len(found) < _MAX_ASKED and n_silent < 2
        runtime, is_silent = _read(host, place, programs, real, may_ask=may_ask)
        n_silent += is_silent
        found.append(runtime)
    return tuple(found)


def list_devices(host: Host, runtimes: tuple[Runtime, ...]) -> DeviceList:
    """Ask the first runtime that answers which devices it can use (no model needed)."""
    last = DeviceList((), State.MISSING, "", "no llama.cpp program was found to ask")
    for runtime in runtimes[:_MAX_ASKED]:
        program = runtime.program("llama-server") or runtime.program("llama-bench")
        if program is None:
            continue
        if runtime.is_silent:  # it hung once: a second question would cost its time limit again
            reason = f"no answer within {_VERSION_S:g} s to --version, so it was not asked"
            last = DeviceList((), State.TIMEOUT, program, reason)
            continue
        last = ask_devices(host, program)
        if last.state is State.KNOWN or last.state is State.TIMEOUT:
            return last
    return last


def ask_devices(host: Host, program: str, *, rpc: str = "") -> DeviceList:
    """Ask one program for its devices; rpc names servers on other computers, host:port,..."""
    # the list is printed where its flag stands, so the servers must come first
    words = (program, *(("--rpc", rpc) if rpc else ()), "--list-devices")
    answer = host.run(words, timeout_s=_DEVICES_S)
    source = " ".join(words)
    if answer.state is not State.KNOWN:
        return DeviceList((), answer.state, source, answer.reason)
    # older builds print the list with the log, on stderr
    for text in (answer.stdout, answer.stderr):
        devices = llama_outputs.parse_devices(text, source=source)
        if devices is not None:
            return DeviceList(devices, State.KNOWN, source)
    return DeviceList((), State.ERROR, source, _failure(answer))


def places(host: Host, folders: tuple[str, ...]) -> Iterator[Place]:
    """Yield the folders to look into, most wanted first."""
    yield from islice(_all_places(host, folders), _MAX_FOLDERS)


def _all_places(host: Host, folders: tuple[str, ...]) -> Iterator[Place]:
    for folder in folders:
        # a user may also point at the program itself
        root = folder_of(host, folder) if host.is_file(folder) else folder
        for inside in _INSIDE:
            yield Place(join(host, root, *inside.split("/")) if inside else root, CHOSEN)
    for name in ("llama-server", "llama-bench"):
        path = host.which(name)
        if path:
            yield Place(folder_of(host, path), "PATH")
            yield Place(folder_of(host, host.real_path(path)), "PATH")
    for folder in _usual_folders(host):
        yield Place(folder, "usual place")
    yield from _inside_others(host)


def _usual_folders(host: Host) -> Iterator[str]:
    """Yield hardware.md section 10's folders for this system."""
    home = host.home()
    if host.platform() == "win32":
        packages = join(host, variable(host, "LOCALAPPDATA"), "Microsoft", "WinGet", "Packages")
        for name in host.list_dir(packages) if packages else ():
            if name.startswith("ggml.llamacpp_"):
                yield join(host, packages, name)
        yield join(host, home, "llama.cpp")
        yield join(host, home, "llama.cpp", "build", "bin", "Release")
        return
    if host.platform() == "darwin":  # Finder's PATH leaves Homebrew out
        yield "/opt/homebrew/bin"
    yield from ("/usr/local/bin", "/usr/bin", "/home/linuxbrew/.linuxbrew/bin")
    yield join(host, home, "llama.cpp", "build", "bin")
    yield join(host, home, "llama.cpp")
    yield join(host, home, ".local", "bin")


def _inside_others(host: Host) -> Iterator[Place]:
    for folder in ollama.library_folders(host):
        yield Place(folder, "Ollama's folder", "llama.cpp inside Ollama")
    for data in jan.data_folders(host):
        backends = join(host, data, "llamacpp", "backends")
        for version in host.list_dir(backends)[::-1]:  # the newest first
            for variant in host.list_dir(join(host, backends, version)):
                folder = join(host, backends, version, variant, "build", "bin")
                yield Place(folder, "Jan's folder", "llama.cpp inside Jan")
    vendor = join(host, lm_studio.home_folder(host), "extensions", "backends")
    for name in host.list_dir(vendor):
        folder = join(host, vendor, name)
        yield Place(folder, "LM Studio's folder", "llama.cpp inside LM Studio")


def _read(
    host: Host, place: Place, programs: tuple[Program, ...], real: str, *, may_ask: bool
) -> tuple[Runtime, bool]:
    """Return the runtime, and whether its program gave no answer in time."""
    version = None
    is_silent = False
    if may_ask:
        asked = next((p for p in programs if p.name != "ggml-rpc-server"), programs[0])
        answer = host.run((asked.path, "--version"), timeout_s=_VERSION_S)
        is_silent = answer.state is State.TIMEOUT
        version = llama_outputs.parse_version(f"{answer.stdout}\n{answer.stderr}")
        if not is_silent:
            programs = tuple(_with_flags(host, program) for program in programs)
    runtime = Runtime(
        id=ID,
        title=place.title,
        folder=place.folder,
        version=version.text if version else None,
        build=version.build if version else None,
        programs=programs,
        source=place.source,
        backends=_backends(host, (place.folder, folder_of(host, real))),
        is_silent=is_silent,
        is_translated=_is_translated(host, real),
    )
    return runtime, is_silent


def _is_translated(host: Host, path: str) -> bool:
    """Tell whether a Mac must translate a program: it has no part for Apple's own chip."""
    if host.platform() != "darwin" or host.basics().arch != "arm64":
        return False
    found = mach_o.architectures(host.read_start(path, mach_o.N_BYTES))
    return bool(found) and "arm64" not in found


def _is_in(host: Host, runtime: Runtime, folder: str) -> bool:
    return any(
        folder_of(host, host.real_path(program.path)) == folder for program in runtime.programs
    )


def _running(server: RunningServer, folder: str) -> Runtime:
    return Runtime(
        id=ID,
        title="llama-server",
        folder=folder,
        version=server.version,
        build=server.build,
        programs=(Program("llama-server", server.exe),) if server.exe else (),
        source=f"http://127.0.0.1:{server.port}/props",
        is_running=True,
        loaded=server.loaded,
        port=server.port,
        argv=hidden_argv(server.argv),
    )


def _with_flags(host: Host, program: Program) -> Program:
    if program.name not in _WITH_HELP:
        return program
    return Program(program.name, program.path, read_flags(host, program.path))


def read_flags(host: Host, program: str) -> tuple[Flag, ...]:
    """Return the options of a program; empty when it does not tell them."""
    answer = host.run((program, "--help"), timeout_s=_VERSION_S)
    return llama_outputs.parse_help(answer.stdout) or llama_outputs.parse_help(answer.stderr)


def _backends(host: Host, folders: tuple[str, ...]) -> tuple[str, ...]:
    """Return the backends by their library files, without running anything."""
    found: set[str] = set()
    for folder in dict.fromkeys(folders):
        for name in host.list_dir(folder):
            match = re.fullmatch(r"(?:lib)?ggml-([a-z]+)[\w.-]*\.(?:so|dll|dylib)", name)
            if match and match[1] != "base":
                found.add(match[1])
    return tuple(sorted(found))


def _failure(answer: CommandResult) -> str:
    """Say in one line why there is no list: the last thing the program printed."""
    lines = [line.strip() for line in f"{answer.stdout}\n{answer.stderr}".splitlines()]
    last = next((line for line in reversed(lines) if line), "it printed nothing")
    return f"exit status {answer.code}: {last[:200]}"


RUNTIME = RuntimeProbe(ID, TITLE, find, llama_argv.command_text)
