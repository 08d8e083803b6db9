"""KoboldCpp: one file that may be anywhere, so mostly found while it runs."""

import re

from app.core.host import Host, ProcessInfo
from app.core.machine import LoadedModel, Runtime
from app.core.probe import LoadWish, RuntimeProbe
from app.core.request import LoadRequest, SplitMode, Switch
from app.runtimes import others, shell
from app.runtimes.answers import document, text
from app.runtimes.places import join

ID = "koboldcpp"
TITLE = "KoboldCpp"
PORT = 5001
_NAMES = re.compile(r"koboldcpp[\w.-]*", re.IGNORECASE)
_CACHE_TYPES = ("f16", "bf16", "q8_0", "q5_1", "q4_0")


def find(host: Host, folders: tuple[str, ...] = ()) -> tuple[Runtime, ...]:
    """Return KoboldCpp when it runs, is in PATH, or lies in a chosen folder."""
    kind = others.Kind(
        ID, TITLE, PORT, is_own=_is_own, ask=_ask, program=lambda host: _program(host, folders)
    )
    return others.find(host, kind)


def _ask(host: Host, port: int) -> others.Said | None:
    version = version_of(others.body_of(host, port, "/api/extra/version"))
    if version is None:
        return None
    return others.Said(version, loaded_model(others.body_of(host, port, "/api/v1/model")))


def version_of(body: bytes) -> str | None:
    """Read /api/extra/version, None when something else answers."""
    answer = document(body)
    return (text(answer, "version")[:60] or None) if answer.get("result") == "KoboldCpp" else None


def loaded_model(body: bytes) -> tuple[LoadedModel, ...]:
    """Read /api/v1/model: "koboldcpp/NAME", or "inactive" while nothing is loaded."""
    kind, _, name = text(document(body), "result").partition("/")
    return (LoadedModel(name),) if kind == "koboldcpp" and name else ()


def setting(wish: LoadWish) -> str:
    """Return the command line (1.117)."""
    request = wish.request
    words = ["koboldcpp", "--model", wish.model_path, *_words(request)]
    line = shell.line(tuple(words), platform=wish.platform)
    names = _not_possible(request)
    return f"{line}\n# KoboldCpp has no setting for: {', '.join(names)}" if names else line


def _words(request: LoadRequest) -> list[str]:
    words: list[str] = []
    if not request.use_devices:
        words += ["--gpulayers", "0"]
    elif request.ngl is not None and request.ngl >= 0:
        words += ["--gpulayers", str(request.ngl)]
    if request.use_devices and request.device_ids:
        words += ["--device", ",".join(request.device_ids)]
    if request.ctx:
        words += ["--contextsize", str(request.ctx)]
    if request.cache_type_k != "f16" and not _cache_problem(request):
        words += ["--quantkv", request.cache_type_k]
    if request.flash_attn is Switch.OFF:
        words.append("--noflashattention")
    if request.ubatch != 512:
        words += ["--batchsize", str(request.ubatch)]
    if request.threads is not None:
        words += ["--threads", str(request.threads)]
    if request.parallel is not None:
        words += ["--parallelrequests", str(request.parallel)]
    if request.tensor_split:  # blanks between the parts
        words += ["--tensor_split", *(f"{share:g}" for share in request.tensor_split)]
    if request.cpu_moe:
        words.append("--moecpu")
    elif request.n_cpu_moe:
        words += ["--moecpu", str(request.n_cpu_moe)]
    if not request.kv_offload:
        words.append("--lowvram")
    if request.swa_full:
        words.append("--noswa")
    if request.projector_path:
        words += ["--mmproj", request.projector_path]
        words += [] if request.projector_offload else ["--mmprojcpu"]
    if request.draft_path:
        words += ["--draftmodel", request.draft_path]
    if request.load_mode in ("mmap", "mmap+mlock"):
        words.append("--usemmap")
    if request.load_mode in ("mlock", "mmap+mlock"):
        words.append("--usemlock")
    return words


def _not_possible(request: LoadRequest) -> list[str]:
    problem = _cache_problem(request)
    names = [problem] if problem else []
    if request.n_cpu_ffn:
        names.append("feed-forward layers on the CPU")
    if request.split_mode is not SplitMode.LAYER:
        names.append(f"split mode {request.split_mode.value}")
    return names


def _cache_problem(request: LoadRequest) -> str:
    """Say why --quantkv cannot tell the cache types, "" when it can: one for K and V."""
    key, value = request.cache_type_k, request.cache_type_v
    if key == value and key in _CACHE_TYPES:
        return ""
    return f"cache types {key} and {value}"


def _program(host: Host, folders: tuple[str, ...]) -> str | None:
    found = host.which("koboldcpp")
    if found:
        return found
    for folder in folders:
        for name in host.list_dir(folder):
            path = join(host, folder, name)
            if _NAMES.fullmatch(name) and host.is_file(path):
                return path
    return None


def _is_own(process: ProcessInfo) -> bool:
    """Tell whether it is the one-file program, or Python running koboldcpp.py."""
    if _NAMES.fullmatch(process.name):
        return True
    return any(word.endswith("koboldcpp.py") for word in process.argv[:3])


RUNTIME = RuntimeProbe(ID, TITLE, find, setting)
