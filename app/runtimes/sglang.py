"""SGLang: runs from Python, owns its models by name; it splits no model with the CPU."""

from app.core.host import Host
from app.core.machine import Runtime
from app.core.probe import LoadWish, RuntimeProbe
from app.runtimes import others, shell
from app.runtimes.answers import document, text

ID, TITLE, PORT = "sglang", "SGLang", 30000


def find(host: Host, folders: tuple[str, ...] = ()) -> tuple[Runtime, ...]:
    """Return SGLang when it runs or is on PATH."""
    del folders
    return others.find(host, _KIND)


def setting(wish: LoadWish) -> str:
    """Return the command (0.5); all of the model goes on the devices."""
    words = ["python", "-m", "sglang.launch_server", "--model-path", wish.model_path]
    if wish.request.ctx:
        words += ["--context-length", str(wish.request.ctx)]
    line = shell.line(tuple(words), platform=wish.platform)
    if wish.request.ngl is None and wish.request.use_devices:
        return line
    return f"{line}\n# SGLang has no setting for layers on the CPU"


def _ask(host: Host, port: int) -> others.Said | None:
    body = others.body_of(host, port, "/v1/models")
    if b'"owned_by":"sglang"' not in body.replace(b" ", b""):
        return None
    # server_info since 0.5, get_server_info before; both are read-only
    for path in ("/server_info", "/get_server_info"):
        version = text(document(others.body_of(host, port, path)), "version")[:60]
        if version:
            return others.Said(version, others.listed_models(body))
    return others.Said(None, others.listed_models(body))


_KIND = others.Kind(
    ID, TITLE, PORT,
    is_own=others.named(r"sglang(?:::\w+)?", "python", "sglang"),
    ask=_ask,
    program=lambda host: others.first_file(host, "sglang"),
)  # fmt: skip
RUNTIME = RuntimeProbe(ID, TITLE, find, setting)
