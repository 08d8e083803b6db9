"""vLLM: runs from Python, tells its version and model; it splits no model with the CPU."""

from app.core.host import Host
from app.core.machine import Runtime
from app.core.probe import LoadWish, RuntimeProbe
from app.runtimes import others, shell
from app.runtimes.answers import document, text

ID, TITLE, PORT = "vllm", "vLLM", 8000


def find(host: Host, folders: tuple[str, ...] = ()) -> tuple[Runtime, ...]:
    """Return vLLM when it runs or is on PATH."""
    del folders
    return others.find(host, _KIND)


def setting(wish: LoadWish) -> str:
    """Return the command (0.11); it loads one GGUF file, all of it on the devices."""
    words = ["vllm", "serve", wish.model_path]
    if wish.request.ctx:
        words += ["--max-model-len", str(wish.request.ctx)]
    line = shell.line(tuple(words), platform=wish.platform)
    if wish.request.ngl is None and wish.request.use_devices:
        return line
    return f"{line}\n# vLLM has no setting for layers on the CPU"


def _ask(host: Host, port: int) -> others.Said | None:
    version = text(document(others.body_of(host, port, "/version")), "version")[:60]
    body = others.body_of(host, port, "/v1/models") if version else b""
    # others have /version too; only vLLM says that it owns its models
    if not version or b'"owned_by":"vllm"' not in body.replace(b" ", b""):
        return None
    return others.Said(version, others.listed_models(body))


_KIND = others.Kind(
    ID, TITLE, PORT,
    is_own=others.named(r"vllm|VLLM::\w+", "python", "vllm"),
    ask=_ask,
    program=lambda host: others.first_file(host, "vllm"),
)  # fmt: skip
RUNTIME = RuntimeProbe(ID, TITLE, find, setting)
