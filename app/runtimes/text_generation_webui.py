"""text-generation-webui: a Python server with a llama-server of its own as child."""

from app.core.host import Host
from app.core.machine import LoadedModel, Runtime
from app.core.probe import LoadWish, RuntimeProbe
from app.runtimes import others, shell
from app.runtimes.answers import document, text
from app.runtimes.places import join

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
    if request.cache_type_k != "f16":
        words += ["--cache-type", request.cache_type_k]
    if request.threads is not None:
        words += ["--threads", str(request.threads)]
    return shell.line(tuple(words), platform=wish.platform)


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
