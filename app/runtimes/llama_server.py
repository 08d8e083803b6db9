"""Recognises llama-server processes that run here, by what they answer and not by their port."""

import re
from dataclasses import dataclass
from typing import Any

from app.core.host import Host, ProcessInfo
from app.core.machine import LoadedModel
from app.runtimes import ports
from app.runtimes.answers import document, inner, items, objects, text, whole
from app.runtimes.places import folder_of, name_of

DEFAULT_PORT = 8080
_NAMES = re.compile(r"(?:llama-server|llama_server|ollama_llama_server)(?:\.exe)?", re.IGNORECASE)
_SERVER = "llama.cpp"
_BUILD = re.compile(r"b(\d{1,9})-")
_MAX_SERVERS = 4
_LIBRARY = re.compile(r"(?:lib)?ggml-(?:base|cpu)[\w.-]*\.(?:so[\d.]*|dll|dylib)")


@dataclass(frozen=True, slots=True)
class RunningServer:
    """A llama-server that answers; exe None = the process is not ours to see."""

    port: int
    exe: str | None
    argv: tuple[str, ...]
    version: str | None
    build: int | None
    loaded: tuple[LoadedModel, ...]


def running(host: Host) -> tuple[RunningServer, ...]:
    """Return the servers that answer as llama.cpp does, by whatever name and on whatever port."""
    found = []
    listening = {entry.pid for entry in host.listeners()} - {None}
    processes = tuple(
        p for p in host.processes() if is_server(host, p, is_listening=p.pid in listening)
    )
    for port, process in _ports(host, processes):
        server = ask(host, port, process)
        if server is not None:
            found.append(server)
    return tuple(found)


def is_server(host: Host, process: ProcessInfo, *, is_listening: bool) -> bool:
    """Tell whether a process may be llama-server: by its name, its model, or its libraries."""
    exe = process.exe or ""
    if _NAMES.fullmatch(process.name) or _NAMES.fullmatch(name_of(host, exe)):
        return True
    if any(word.lower().endswith(".gguf") for word in process.argv[1:]):
        return True
    # folders are listed for the few processes that listen: there can be hundreds of others
    return (is_listening and bool(exe)) and any(
        _LIBRARY.fullmatch(name) for name in host.list_dir(folder_of(host, exe))
    )


def ask(host: Host, port: int, process: ProcessInfo | None = None) -> RunningServer | None:
    """Return the server on a port, None when something else or nothing answers there.

    Its endpoints may ask for a key, which is never sent: /health answers without one.
    """
    health = ports.get(host, port, "/health")
    if health.status is None:
        return None
    props = ports.get(host, port, "/props")
    values = document(props.body) if props.status == 200 else {}
    # the header also comes with 503 while it loads; many programs say {"status":"ok"}, so a server
    # too old for the header must know its settings
    if health.server != _SERVER and "default_generation_settings" not in values:
        return None
    build_info = text(values, "build_info")[:60]
    match = _BUILD.match(build_info)
    build = int(match[1]) if match and int(match[1]) > 1 else None
    return RunningServer(
        port=port,
        exe=process.exe if process else None,
        argv=process.argv if process else (),
        # b0 and b1 come from source archives: not known, not "very old"
        version=f"build {build}" if build else None,
        build=build,
        loaded=_routed(host, port) if _is_router(values) else _loaded(host, port, values),
    )


def port_of(argv: tuple[str, ...], *, default: int = DEFAULT_PORT) -> int:
    """Return the port of a command line, the default when none is given."""
    for index, word in enumerate(argv):
        value = ""
        if word == "--port" and index + 1 < len(argv):
            value = argv[index + 1]
        elif word.startswith("--port="):
            value = word.removeprefix("--port=")
        if value.isdecimal() and len(value) < 6:
            return int(value)
    return default


def _ports(
    host: Host, processes: tuple[ProcessInfo, ...]
) -> tuple[tuple[int, ProcessInfo | None], ...]:
    """Return the ports to ask, each once; the usual one also without a process to see.

    A process and the port it listens on are an exact pair where the system tells both; else the
    port of its command line. No other port is tried.
    """
    found: dict[int, ProcessInfo | None] = {}
    for process in processes:
        own = [entry.port for entry in host.listeners() if entry.pid == process.pid]
        is_named = _NAMES.fullmatch(process.name)
        for port in own or ([port_of(process.argv)] if is_named else []):
            found.setdefault(port, process)
    found.setdefault(DEFAULT_PORT, None)
    return tuple(found.items())[:_MAX_SERVERS]


def _is_router(values: dict[str, Any]) -> bool:
    """Tell a server that starts one of several models when it is asked for (b11434-router)."""
    return text(values, "role") == "router"


def _routed(host: Host, port: int) -> tuple[LoadedModel, ...]:
    """Return what a router has loaded; each has a llama-server of its own that is found too."""
    answer = ports.get(host, port, "/models")
    listed = objects(answer.body, "data") if answer.status == 200 else ()
    return tuple(
        LoadedModel(
            name=text(item, "id"),
            n_bytes=whole(meta, "size"),
            ctx=whole(meta, "n_ctx"),
            settings=("held by a server of its own",),
        )
        for item in listed
        for meta in [inner(item, "meta")]
        if text(inner(item, "status"), "value") == "loaded"
    )


def _loaded(host: Host, port: int, values: dict[str, Any]) -> tuple[LoadedModel, ...]:
    path = text(values, "model_path")
    if not path:
        return ()
    answer = ports.get(host, port, "/v1/models")
    listed = objects(answer.body, "data") if answer.status == 200 else ()
    meta = inner(listed[0], "meta") if listed else {}
    return (
        LoadedModel(
            # the folders in front may name a person
            name=re.split(r"[/\\]", path)[-1],
            n_bytes=whole(meta, "size"),
            ctx=whole(inner(values, "default_generation_settings"), "n_ctx"),
            settings=_settings(host, port, values),
        ),
    )


def _settings(host: Host, port: int, values: dict[str, Any]) -> tuple[str, ...]:
    """Return type, slots and sleep in words; of /slots only who works is read, no text."""
    words = [text(values, "model_ftype")[:40]]
    total = whole(values, "total_slots")
    if total:
        answer = ports.get(host, port, "/slots") if values.get("endpoint_slots") is True else None
        slots = items(answer.body) if answer is not None and answer.status == 200 else ()
        n_busy = sum(slot.get("is_processing") is True for slot in slots)
        words.append("1 slot" if total == 1 else f"{total} slots")
        words.append(f"{n_busy} at work" if n_busy else "")
    words.append("asleep" if values.get("is_sleeping") is True else "")
    return tuple(word for word in words if word)
