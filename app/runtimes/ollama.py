"""Ollama: where it is, whether it runs, what it holds, and how a load is written for it."""

import re

from app.core.host import Host, ProcessInfo
from app.core.machine import LoadedModel, Program, Runtime
from app.core.probe import LoadWish, RuntimeProbe
from app.core.request import SplitMode, Switch
from app.core.secrets import hidden_argv
from app.runtimes import visible
from app.runtimes.answers import document, objects, text, whole
from app.runtimes.others import body_of
from app.runtimes.places import executable, folder_of, join, variable

ID = "ollama"
TITLE = "Ollama"
PORT = 11434
_CACHE_TYPES = ("f16", "q8_0", "q4_0")
_PROCESS = re.compile(r"ollama(?:\.exe)?", re.IGNORECASE)  # "ollama app" is the icon in the tray
_BACKEND = re.compile(r"(?:cuda|rocm|vulkan|mlx)\w*")
_MAX_PORTS = 3


def find(host: Host, folders: tuple[str, ...] = ()) -> tuple[Runtime, ...]:
    """Return Ollama when it is installed or running; chosen folders are not its own."""
    del folders
    path = _program(host)
    process = next((p for p in host.processes() if _PROCESS.fullmatch(p.name)), None)
    port, version = _running(host, process)
    if path is None and version is None and process is None:
        return ()
    is_answering = version is not None
    source = "known folder or PATH" if process is None else "its process"
    return (
        Runtime(
            id=ID,
            title=TITLE,
            folder=folder_of(host, path) if path else "",
            version=version,
            build=None,
            programs=(Program("ollama", path),) if path else (),
            source=f"http://127.0.0.1:{port}/api/version" if is_answering else source,
            is_running=is_answering or process is not None,
            backends=_backends(host),
            loaded=loaded_models(body_of(host, port, "/api/ps")) if is_answering else (),
            port=port if is_answering else None,
            argv=hidden_argv(process.argv) if process is not None else (),
        ),
    )


def loaded_models(body: bytes) -> tuple[LoadedModel, ...]:
    """Read /api/ps: size_vram below size is a partial offload."""
    return tuple(
        LoadedModel(
            name=text(item, "name"),
            n_bytes=whole(item, "size"),
            device_bytes=whole(item, "size_vram"),
            ctx=whole(item, "context_length"),
        )
        for item in objects(body, "models")
    )


def setting(wish: LoadWish) -> str:
    """Return a Modelfile, and what only the service's environment can say (0.33)."""
    request = wish.request
    lines = [f"FROM {wish.model_path}"]
    if request.projector_path:  # a second FROM adds it
        lines.append(f"FROM {request.projector_path}")
    if request.draft_path:
        lines.append(f"DRAFT {request.draft_path}")
    if not request.use_devices:
        lines.append("PARAMETER num_gpu 0")
    elif request.ngl is not None and request.ngl >= 0:
        lines.append(f"PARAMETER num_gpu {request.ngl}")
    if request.ctx:
        lines.append(f"PARAMETER num_ctx {request.ctx}")
    if request.ubatch != 512 or request.batch != 2048:  # one setting for both
        lines.append(f"PARAMETER num_batch {min(request.batch, request.ubatch)}")
    if request.threads is not None:
        lines.append(f"PARAMETER num_thread {request.threads}")
    if request.load_mode in ("none", "dio"):
        lines.append("PARAMETER use_mmap false")
    if request.split_mode is SplitMode.NONE:  # naming a main GPU means that for Ollama
        lines.append(f"PARAMETER main_gpu {request.main_gpu}")
    return "\n".join([*lines, *_environment(wish), *_not_possible(wish)])


def _environment(wish: LoadWish) -> list[str]:
    """Return the variables of the service; each holds for all of its models."""
    request = wish.request
    found = []
    if request.cache_type_k != "f16" and _cache_fits(wish):
        found.append(f"OLLAMA_KV_CACHE_TYPE={request.cache_type_k}")
    if request.flash_attn is not Switch.AUTO:
        found.append(f"OLLAMA_FLASH_ATTENTION={1 if request.flash_attn is Switch.ON else 0}")
    if request.parallel is not None:
        found.append(f"OLLAMA_NUM_PARALLEL={request.parallel}")
    experts = "LLAMA_ARG_CPU_MOE=1" if request.cpu_moe else ""
    if request.n_cpu_moe and not request.cpu_moe:
        experts = f"LLAMA_ARG_N_CPU_MOE={request.n_cpu_moe}"
    if experts:  # its llama-server inherits the service's environment since 0.30
        found.append(f"{experts}   (undocumented: it reaches llama-server since Ollama 0.30)")
    found += visible.variables(request.device_ids if request.use_devices else ())
    if not found:
        return []
    return ["# environment of the Ollama service, for all models:", *(f"# {v}" for v in found)]


def _not_possible(wish: LoadWish) -> list[str]:
    request = wish.request
    unnamed = visible.unnamed(request.device_ids)
    names = [
        name
        for name, is_set in (
            (
                f"cache types {request.cache_type_k} and {request.cache_type_v}",
                not _cache_fits(wish),
            ),
            ("cache on the host", not request.kv_offload),
            ("experts on the CPU", request.cpu_moe or request.n_cpu_moe > 0),
            ("tensors moved by name", bool(request.overrides or request.n_cpu_ffn)),
            ("the projector on the host", not request.projector_offload),
            ("a split ratio", bool(request.tensor_split)),
            (f"use of {' and '.join(unnamed)}", bool(unnamed)),
        )
        if is_set
    ]
    return [f"# Ollama has no setting for: {', '.join(names)}"] if names else []


def _cache_fits(wish: LoadWish) -> bool:
    """Tell whether one variable can say both cache types."""
    key, value = wish.request.cache_type_k, wish.request.cache_type_v
    return key == value and key in _CACHE_TYPES


def _program(host: Host) -> str | None:
    found = host.which("ollama")
    if found:
        return found
    name = executable(host, "ollama")
    if host.platform() == "win32":
        local = variable(host, "LOCALAPPDATA")
        folders = [join(host, local, "Programs", "Ollama")] if local else []
    elif host.platform() == "darwin":
        folders = ["/Applications/Ollama.app/Contents/Resources", "/opt/homebrew/bin"]
    else:
        folders = ["/usr/local/bin", "/usr/bin"]
    paths = (join(host, folder, name) for folder in folders)
    return next((path for path in paths if host.is_file(path)), None)


def _port(host: Host) -> int:
    """Return the port of OLLAMA_HOST (host:port, or :port), else Ollama's own."""
    digits = variable(host, "OLLAMA_HOST").rstrip("/").rpartition(":")[2]
    return int(digits) if digits.isdecimal() and 0 < len(digits) < 6 else PORT


def library_folders(host: Host) -> tuple[str, ...]:
    """Return where Ollama keeps its engines and their backends on this system."""
    if host.platform() == "win32":
        local = variable(host, "LOCALAPPDATA")
        return (join(host, local, "Programs", "Ollama", "lib", "ollama"),) if local else ()
    if host.platform() == "darwin":
        return ("/Applications/Ollama.app/Contents/Resources",)
    home = join(host, host.home(), ".local", "lib", "ollama")
    return ("/usr/local/lib/ollama", "/usr/lib/ollama", home)


def _backends(host: Host) -> tuple[str, ...]:
    """Return the backends that are installed: each has a folder of its own (cuda_v13, rocm)."""
    names = (name for folder in library_folders(host) for name in host.list_dir(folder))
    return tuple(dict.fromkeys(name for name in names if _BACKEND.fullmatch(name)))


def _running(host: Host, process: ProcessInfo | None) -> tuple[int, str | None]:
    """Return the port and version: the process's own ports first, then the one that is usual."""
    own = [entry.port for entry in host.listeners() if process and entry.pid == process.pid]
    for port in list(dict.fromkeys([*own, _port(host), PORT]))[:_MAX_PORTS]:
        version = _running_version(host, port)
        if version is not None:
            return port, version
    return PORT, None


def _running_version(host: Host, port: int) -> str | None:
    """Return the version of a server that says it is Ollama; KoboldCpp imitates /api/version."""
    # a port alone proves nothing
    if b"Ollama is running" not in body_of(host, port, "/")[:200]:
        return None
    return text(document(body_of(host, port, "/api/version")), "version")[:60] or None


RUNTIME = RuntimeProbe(ID, TITLE, find, setting)
