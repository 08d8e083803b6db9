"""What the smaller runtimes have in common: a process, a port of their own, a telling answer."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from app.core.host import Host, ProcessInfo
from app.core.machine import LoadedModel, Program, Runtime
from app.core.secrets import hidden_argv
from app.runtimes import ports
from app.runtimes.answers import objects, text, whole
from app.runtimes.llama_server import port_of
from app.runtimes.places import folder_of

_MAX_PORTS = 3


@dataclass(frozen=True, slots=True)
class Said:
    """What a server says of itself; version None = it does not tell."""

    version: str | None = None
    loaded: tuple[LoadedModel, ...] = ()


@dataclass(frozen=True, slots=True)
class Kind:
    """How one runtime is known: its process, its usual port, and the question that tells it.

    ask returns None when another program answers.
    """

    id: str
    title: str
    port: int
    is_own: Callable[[ProcessInfo], bool]
    ask: Callable[[Host, int], Said | None]
    program: Callable[[Host], str | None]


def find(host: Host, kind: Kind) -> tuple[Runtime, ...]:
    """Return the runtime when it is installed, or when its process runs and answers as it does."""
    process = next((p for p in host.processes() if kind.is_own(p)), None)
    said, port = _said(host, kind, process)
    path = kind.program(host) or (process.exe if process else None)
    if path is None and said is None and process is None:
        return ()
    source = f"http://127.0.0.1:{port}" if said is not None else "its program or folder"
    if said is None and process is not None:
        source = "its process"
    return (
        Runtime(
            id=kind.id,
            title=kind.title,
            folder=folder_of(host, path) if path else "",
            version=said.version if said else None,
            build=None,
            programs=(Program(kind.id, path),) if path else (),
            source=source,
            is_running=process is not None or said is not None,
            loaded=said.loaded if said else (),
            port=port if said is not None else None,
            argv=hidden_argv(process.argv) if process else (),
        ),
    )


def named(pattern: str, *words: str) -> Callable[[ProcessInfo], bool]:
    """Return a test for a process: by its name, or by all of these words in its command line."""
    name = re.compile(pattern, re.IGNORECASE)

    def is_own(process: ProcessInfo) -> bool:
        if name.fullmatch(process.name):
            return True
        line = " ".join(process.argv[:4]).replace("\\", "/").lower()
        return bool(words) and all(word in line for word in words)

    return is_own


def first_file(host: Host, name: str, *paths: str) -> str | None:
    """Return a program by its name on PATH, or the first of the paths that is there."""
    found = host.which(name) if name else None
    return found or next((path for path in paths if path and host.is_file(path)), None)


def listed_models(body: bytes) -> tuple[LoadedModel, ...]:
    """Read the list of /v1/models; max_model_len is vLLM's context."""
    return tuple(
        LoadedModel(name=text(item, "id"), ctx=whole(item, "max_model_len"))
        for item in objects(body, "data")[:20]
    )


def _said(host: Host, kind: Kind, process: ProcessInfo | None) -> tuple[Said | None, int]:
    """Ask the ports of the process, then the usual one: who answers decides, not the number."""
    own = [entry.port for entry in host.listeners() if process and entry.pid == process.pid]
    given = port_of(process.argv, default=kind.port) if process else kind.port
    for port in list(dict.fromkeys([*own, given, kind.port]))[:_MAX_PORTS]:
        said = kind.ask(host, port)
        if said is not None:
            return said, port
    return None, kind.port


def body_of(host: Host, port: int, path: str) -> bytes:
    """Return a successful answer's body, empty for any other."""
    answer = ports.get(host, port, path)
    return answer.body if answer.status == 200 else b""
