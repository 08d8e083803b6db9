"""MLX LM: Apple's framework, run from Python; it loads MLX folders and no GGUF file."""

from app.core.host import Host, ProcessInfo
from app.core.machine import LoadedModel, Runtime
from app.core.probe import LoadWish, RuntimeProbe
from app.runtimes import others
from app.runtimes.answers import document, text
from app.runtimes.places import name_of

ID, TITLE, PORT = "mlx-lm", "MLX LM server", 8080


def find(host: Host, folders: tuple[str, ...] = ()) -> tuple[Runtime, ...]:
    """Return it when its process runs, or it is on PATH."""
    del folders
    return others.find(host, _KIND)


def setting(wish: LoadWish) -> str:
    """Say that it cannot load the file, and how it is started (0.32)."""
    del wish
    return "# MLX LM loads MLX models only, no GGUF file\nmlx_lm.server --model MODEL"


def _is_own(process: ProcessInfo) -> bool:
    """Tell it by its script: `mlx_lm.server`, or `python -m mlx_lm server` and mlx_lm.server."""
    return "mlx_lm.server" in process.name or any(
        word.endswith("mlx_lm.server") or word == "mlx_lm" for word in process.argv[:4]
    )


def _ask(host: Host, port: int) -> others.Said | None:
    process = next((p for p in host.processes() if _is_own(p)), None)
    # its answers are those of many programs, and its Server header is Python's own
    if process is None:
        return None
    listed = others.body_of(host, port, "/v1/models")
    if document(listed).get("object") != "list":
        return None
    # the list holds all that was downloaded; what is loaded is what it was started with
    given = _model(process)
    return others.Said(loaded=(LoadedModel(name_of(host, given)),) if given else ())


def _model(process: ProcessInfo) -> str:
    words = process.argv
    for index, word in enumerate(words):
        if word == "--model" and index + 1 < len(words):
            return text({"model": words[index + 1]}, "model")
    return ""


_KIND = others.Kind(
    ID, TITLE, PORT,
    is_own=_is_own,
    ask=_ask,
    program=lambda host: others.first_file(host, "mlx_lm.server"),
)  # fmt: skip
RUNTIME = RuntimeProbe(ID, TITLE, find, setting)
