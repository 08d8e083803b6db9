"""Jan: where its data is, whether it runs, and its names for the settings of a load."""

import re

from app.core.host import Host
from app.core.machine import Runtime
from app.core.probe import LoadWish, RuntimeProbe
from app.core.request import LoadRequest, SplitMode, Switch
from app.runtimes.places import join, variable

ID = "jan"
TITLE = "Jan"
_PROCESS = re.compile(r"jan(?:\.exe|\.appimage)?", re.IGNORECASE)


def data_folders(host: Host) -> tuple[str, ...]:
    """Return where Jan keeps its data on this system, the current place first."""
    home = host.home()
    if host.platform() == "win32":
        roaming = variable(host, "APPDATA")
        return (join(host, roaming, "Jan", "data"),) if roaming else ()
    if host.platform() == "darwin":
        return (join(host, home, "Library", "Application Support", "Jan", "data"),)
    return tuple(
        join(host, home, *parts)
        for parts in (
            (".local", "share", "Jan", "data"),
            (".config", "Jan", "data"),
            (".var", "app", "ai.jan.Jan", "data", "Jan", "data"),
        )
    )


def find(host: Host, folders: tuple[str, ...] = ()) -> tuple[Runtime, ...]:
    """Return Jan when its data folder is there; its llama.cpp is listed as llama.cpp."""
    del folders
    folder = next((path for path in data_folders(host) if host.list_dir(path)), None)
    if folder is None:
        return ()
    # a process of this name alone could be anything, together with the folder it is Jan
    is_running = any(_PROCESS.fullmatch(process.name) for process in host.processes())
    backends = host.list_dir(join(host, folder, "llamacpp", "backends"))
    return (
        Runtime(
            id=ID,
            title=TITLE,
            folder=folder,
            version=None,  # told only in its own window
            build=None,
            programs=(),
            source="its data folder",
            is_running=is_running,
            backends=backends[-5:],
        ),
    )


def setting(wish: LoadWish) -> str:
    """Return the names of the model's settings with their values (2026)."""
    request = wish.request
    lines = []
    if not request.use_devices:
        lines.append("GPU Layers: 0")
    elif request.ngl is not None and request.ngl >= 0:
        lines.append(f"GPU Layers: {request.ngl}")
    if request.ctx:
        lines.append(f"Context Size: {request.ctx}")
    if request.cache_type_k != "f16":
        lines.append(f"KV Cache K Type: {request.cache_type_k}")
    if request.cache_type_v != "f16":
        lines.append(f"KV Cache V Type: {request.cache_type_v}")
    if request.flash_attn is not Switch.AUTO:
        lines.append(f"Flash Attention: {request.flash_attn.value}")
    if request.batch != 2048:
        lines.append(f"Batch Size: {request.batch}")
    if request.ubatch != 512:
        lines.append(f"uBatch Size: {request.ubatch}")
    if request.threads is not None:
        lines.append(f"Threads: {request.threads}")
    if request.parallel is not None:
        lines.append(f"Parallel Sequences: {request.parallel}")
    if not request.kv_offload:
        lines.append("Disable KV Offload: on")
    if request.load_mode in ("none", "dio"):
        lines.append("Disable mmap: on")
    if "mlock" in request.load_mode:
        lines.append("MLock: on")
    lines += _of_devices(request)
    if request.projector_path:
        lines.append(f"mmproj_path: {request.projector_path} (in the model's own file)")
    if request.draft_path:
        lines.append("# Jan has no setting for: a draft model of its own")
    return "\n".join(lines) or "No setting differs from Jan's own."


def _of_devices(request: LoadRequest) -> list[str]:
    """Return what moves experts and splits; the newer ones by the names in its settings file."""
    lines = []
    if request.cpu_moe:
        lines.append("cpu_moe: on")
    elif request.n_cpu_moe:
        lines.append(f"n_cpu_moe: {request.n_cpu_moe}")
    if request.device_ids:
        lines.append(f"Devices for Offload: {', '.join(request.device_ids)}")
    if request.split_mode is not SplitMode.LAYER:
        lines.append(f"GPU Split Mode: {request.split_mode.value}")
    if request.main_gpu:
        lines.append(f"Main GPU Index: {request.main_gpu}")
    if request.tensor_split:
        lines.append(f"tensor_split: {','.join(f'{share:g}' for share in request.tensor_split)}")
    if request.swa_full:
        lines.append("swa_full: on")
    if request.fit_target_mib is not None:
        lines.append(f"fit_target: {request.fit_target_mib}")
    return lines


RUNTIME = RuntimeProbe(ID, TITLE, find, setting)
