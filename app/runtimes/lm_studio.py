"""LM Studio: where it is, whether its server runs, and its names for the settings of a load."""

import re
from typing import Any

from app.core.host import Host
from app.core.machine import LoadedModel, Program, Runtime
from app.core.probe import LoadWish, RuntimeProbe
from app.core.request import Switch
from app.runtimes import ports, shell
from app.runtimes.answers import document, inner, items_of, objects, text, whole
from app.runtimes.places import executable, join

ID = "lm-studio"
TITLE = "LM Studio"
PORT = 1234
_PROCESSES = re.compile(r"(?:lm[ -]?studio|llmster)(?:\.exe|\.appimage)?", re.IGNORECASE)
_V0_KEYS = {"id", "state", "compatibility_type"}
_V1_KEYS = {"key", "loaded_instances", "max_context_length"}


def find(host: Host, folders: tuple[str, ...] = ()) -> tuple[Runtime, ...]:
    """Return LM Studio when its folder is there or its server answers."""
    del folders
    home = home_folder(host)
    tool = join(host, home, "bin", executable(host, "lms"))
    program = tool if host.is_file(tool) else host.which("lms")
    loaded = _loaded(host)
    is_there = bool(host.list_dir(home))
    if not is_there and program is None and loaded is None:
        return ()
    engines = engine_versions(host.list_dir(join(host, home, "extensions", "backends")))
    is_running = loaded is not None or _has_process(host)
    return (
        Runtime(
            id=ID,
            title=TITLE,
            folder=home if is_there else "",
            version=None,  # the program tells its version nowhere that can be read
            build=None,
            programs=(Program("lms", program),) if program else (),
            source=f"http://127.0.0.1:{PORT}" if loaded is not None else "its own folder",
            is_running=is_running,
            backends=engines,
            loaded=loaded or (),
            port=PORT if loaded is not None else None,
        ),
    )


def home_folder(host: Host) -> str:
    """Return LM Studio's folder: the moved one, the usual one, or the one of early 0.3."""
    usual = join(host, host.home(), ".lmstudio")
    pointer = (host.read_text(join(host, host.home(), ".lmstudio-home-pointer")) or "").strip()
    former = join(host, host.home(), ".cache", "lm-studio")
    for folder in (pointer, usual, former):
        if folder and host.list_dir(folder):
            return folder
    return usual


def engine_versions(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the llama.cpp engines by their folder names, as LM Studio names them."""
    return tuple(name for name in names if name.startswith("llama.cpp-"))


def models_v0(body: bytes) -> tuple[LoadedModel, ...] | None:
    """Read /api/v0/models; None when the answer has not LM Studio's shape."""
    items = objects(body, "data")
    if not items or not all(item.keys() >= _V0_KEYS for item in items):
        return None
    return tuple(
        LoadedModel(name=text(item, "id"), ctx=whole(item, "loaded_context_length"))
        for item in items
        if item.get("state") == "loaded"
    )


def models_v1(body: bytes) -> tuple[LoadedModel, ...] | None:
    """Read /api/v1/models (0.4 on); None when the answer has not LM Studio's shape.

    One model can be loaded several times, each with its own context.
    """
    items = objects(body, "models")
    if not items or not all(item.keys() >= _V1_KEYS for item in items):
        return None
    return tuple(
        LoadedModel(
            name=text(instance, "id") or text(item, "key"),
            n_bytes=whole(item, "size_bytes"),
            ctx=whole(config, "context_length"),
            settings=_settings(config),
        )
        for item in items
        for instance in items_of(item, "loaded_instances")
        for config in [inner(instance, "config")]
    )


def _settings(config: dict[str, Any]) -> tuple[str, ...]:
    """Return what the load panel was set to, in its words; what is not told is left out."""
    words = []
    flash, cache = config.get("flash_attention"), config.get("offload_kv_cache_to_gpu")
    if isinstance(flash, bool):
        words.append(f"flash attention {'on' if flash else 'off'}")
    if isinstance(cache, bool):
        words.append(f"KV cache on the {'GPU' if cache else 'CPU'}")
    batch = whole(config, "eval_batch_size")
    if batch:
        words.append(f"batch {batch}")
    return tuple(words)


def setting(wish: LoadWish) -> str:
    """Return the names of the load panel with their values, and the command of `lms` (0.4)."""
    request = wish.request
    lines = []
    ngl = 0 if not request.use_devices else request.ngl
    offload = _share(ngl, wish.layers_total)
    if ngl is not None and ngl >= 0:
        of = f" of {wish.layers_total}" if wish.layers_total else ""
        lines.append(f"GPU Offload: {ngl}{of}")
    if request.ctx:
        lines.append(f"Context Length: {request.ctx}")
    if request.flash_attn is not Switch.AUTO:
        lines.append(f"Flash Attention: {request.flash_attn.value}")
    if request.cache_type_k != "f16":
        lines.append(f"K Cache Quantization Type: {request.cache_type_k}")
    if request.cache_type_v != "f16":
        lines.append(f"V Cache Quantization Type: {request.cache_type_v} (needs Flash Attention)")
    if request.batch != 2048:
        lines.append(f"Evaluation Batch Size: {request.batch}")
    if request.ubatch != 512:
        lines.append(f"llm.load.llama.physicalBatchSize: {request.ubatch} (in its stored settings)")
    n_experts = wish.layers_total - 1 if request.cpu_moe and wish.layers_total else 0
    n_experts = n_experts or request.n_cpu_moe
    if n_experts and wish.layers_total:
        share = n_experts / (wish.layers_total - 1)
        lines.append(
            f"CPU MoE: {n_experts} of {wish.layers_total - 1} blocks, a share of {share:.2f}"
        )
    if request.threads is not None:
        lines.append(f"CPU Thread Pool Size: {request.threads}")
    if request.parallel is not None:
        lines.append(f"Max Concurrent Predictions: {request.parallel}")
    if not request.kv_offload:
        lines.append("Offload KV Cache to GPU Memory: off")
    if request.load_mode in ("none", "dio"):
        lines.append("Try mmap(): off")
    if request.use_devices and request.device_ids:
        lines.append(f"Hardware, GPUs: only {', '.join(request.device_ids)} on")
    if request.draft_path:
        lines.append(f"Speculative Decoding, Draft Model: {request.draft_path}")
    if request.projector_path:
        lines.append("Projector: put its file into the model's folder, it is loaded from there")
    words = ["lms", "load", "MODEL"]
    if offload is not None:
        words += ["--gpu", offload]
    if request.ctx:
        words += ["-c", str(request.ctx)]
    line = shell.line(tuple(words), platform=wish.platform)
    if request.tensor_split:
        line += "\n# LM Studio has no setting for: a split ratio"
    return "\n".join([*lines, line])


def _share(ngl: int | None, layers_total: int | None) -> str | None:
    """Return --gpu's value, a share of the layers; None = leave it to LM Studio."""
    if ngl == 0:
        return "off"
    if ngl is None or ngl < 0 or not layers_total:
        return None
    return "max" if ngl >= layers_total else f"{ngl / layers_total:.3f}"


def _loaded(host: Host) -> tuple[LoadedModel, ...] | None:
    """Return the loaded models, None when no server answers as LM Studio does."""
    # what LM Studio's own SDK asks first (lmstudio-js), answered without a key
    greeting = ports.get(host, PORT, "/lmstudio-greeting")
    for path, read in (("/api/v1/models", models_v1), ("/api/v0/models", models_v0)):
        answer = ports.get(host, PORT, path)
        models = read(answer.body) if answer.status == 200 else None
        if models is not None:
            return models
    return () if document(greeting.body).get("lmstudio") is True else None


def _has_process(host: Host) -> bool:
    return any(_PROCESSES.fullmatch(process.name) for process in host.processes())


RUNTIME = RuntimeProbe(ID, TITLE, find, setting)
