"""text-generation-webui: a Python server with a llama-server of its own as child."""

from app.core.host import Host
from app.core.machine import LoadedModel, Runtime
from app.core.probe import LoadWish, RuntimeProbe
from app.core.request import LoadRequest, SplitMode
from app.runtimes import others, shell, visible
from app.runtimes.answers import document, text
from app.runtimes.places import join

_BATCH = 1024
_CACHE_TYPES = ("f16", "q8_0", "q4_0")
ID, TITLE, PORT = "text-generation-webui", "text-generation-webui", 5000


def find(host: Host, folders: tuple[str, ...] = ()) -> tuple[Runtime, ...]:
    """Return it when it runs, or lies in the home folder under its own name."""
    del folders
    return others.find(host, _KIND)


def setting(wish: LoadWish) -> str:
    """Return the command line (4.0)."""
    request = wish.request
    words = ["python", "server.py", "--model", wish.model_path, "--loader", "llama.cpp"]
    if not request.use_devices:
        words += ["--gpu-layers", "0"]
    elif request.ngl is not None and request.ngl >= 0:
        words += ["--gpu-layers", str(request.ngl)]
    if request.ctx:
        words += ["--ctx-size", str(request.ctx)]
    if request.cache_type_k != "f16" and _has_cache(request):
        words += ["--cache-type", request.cache_type_k]
    # its own defaults are 1024 each
    if request.batch != _BATCH:
        words += ["--batch-size", str(request.batch)]
    if request.ubatch != _BATCH:
        words += ["--ubatch-size", str(request.ubatch)]
    if request.threads is not None:
        words += ["--threads", str(request.threads)]
    if request.parallel is not None:
        words += ["--parallel", str(request.parallel)]
    if request.split_mode is not SplitMode.LAYER:
        words += ["--split-mode", request.split_mode.value]
    if request.tensor_split:
        words += ["--tensor-split", ",".join(f"{share:g}" for share in request.tensor_split)]
    if request.cpu_moe:
        words.append("--cpu-moe")
    if not request.kv_offload:
        words.append("--no-kv-offload")
    if request.projector_path:
        words += ["--mmproj", request.projector_path]
    if request.draft_path:
        words += ["--model-draft", request.draft_path]
    extra = _extra_flags(request)
    if extra:
        words += ["--extra-flags", ",".join(extra)]
    line = shell.line(tuple(words), platform=wish.platform)
    if len(request.device_ids) > 1:
        named = visible.variables(request.device_ids)
        line += "".join(f"\n# set before it starts: {text}" for text in named)
    if _has_cache(request):
        return line
    types = f"{request.cache_type_k} and {request.cache_type_v}"
    return f"{line}\n# text-generation-webui has no setting for: cache types {types}"


def _extra_flags(request: LoadRequest) -> list[str]:
    """Return what it only hands on to its llama-server, as flag=value."""
    found = []
    if request.n_cpu_moe and not request.cpu_moe:
        found.append(f"n-cpu-moe={request.n_cpu_moe}")
    if request.projector_path and not request.projector_offload:
        found.append("no-mmproj-offload")
    if request.main_gpu:
        found.append(f"main-gpu={request.main_gpu}")
    # parts of a list would be cut at the commas, so one device alone can be named
    if len(request.device_ids) == 1:
        found.append(f"device={request.device_ids[0]}")
    return found


def _has_cache(request: LoadRequest) -> bool:
    """Tell whether its one setting for both caches can say these types."""
    return request.cache_type_k == request.cache_type_v and request.cache_type_k in _CACHE_TYPES


def _ask(host: Host, port: int) -> others.Said | None:
    values = document(others.body_of(host, port, "/v1/internal/model/info"))
    if "model_name" not in values or "lora_names" not in values:
        return None
    name = text(values, "model_name")
    return others.Said(loaded=(LoadedModel(name),) if name not in ("", "None") else ())


def _program(host: Host) -> str | None:
    folder = join(host, host.home(), "text-generation-webui")
    return others.first_file(host, "", join(host, folder, "server.py"))


_KIND = others.Kind(
    ID, TITLE, PORT,
    is_own=others.named(r"text-generation-webui", "server.py", "text-generation-webui"),
    ask=_ask,
    program=_program,
)  # fmt: skip
RUNTIME = RuntimeProbe(ID, TITLE, find, setting)
