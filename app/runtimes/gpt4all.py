"""GPT4All: a desktop program; its server is off until the user switches it on."""

from app.core.host import Host
from app.core.machine import Runtime
from app.core.probe import LoadWish, RuntimeProbe
from app.runtimes import others
from app.runtimes.places import executable, join, variable

ID, TITLE, PORT = "gpt4all", "GPT4All", 4891


def find(host: Host, folders: tuple[str, ...] = ()) -> tuple[Runtime, ...]:
    """Return GPT4All when its program or its process is there."""
    del folders
    return others.find(host, _KIND)


def setting(wish: LoadWish) -> str:
    """Return the names of the model's settings with their values (3.10)."""
    request = wish.request
    lines = []
    if not request.use_devices:
        lines.append("Device: CPU")
    elif request.ngl is not None and request.ngl >= 0:
        lines.append(f"GPU Layers: {request.ngl}")
    if request.ctx:
        lines.append(f"Context Length: {request.ctx}")
    if request.threads is not None:
        lines.append(f"CPU Threads: {request.threads}")
    return "\n".join(lines) or "No setting differs from GPT4All's own."


def _ask(host: Host, port: int) -> others.Said | None:
    body = others.body_of(host, port, "/v1/models")
    if b'"owned_by":"humanity"' not in body.replace(b" ", b"").lower():
        return None
    return others.Said(loaded=())  # it lists what is installed, not what is loaded


def _program(host: Host) -> str | None:
    home = host.home()
    local = variable(host, "LOCALAPPDATA")
    return others.first_file(
        host,
        "",
        join(host, home, "gpt4all", "bin", executable(host, "chat")),
        join(host, local, "Programs", "gpt4all", "bin", "chat.exe") if local else "",
        "/Applications/gpt4all/bin/gpt4all.app/Contents/MacOS/gpt4all",
    )


_KIND = others.Kind(
    ID, TITLE, PORT,
    is_own=others.named(r"gpt4all(?:\.exe)?", "gpt4all", "bin/chat"),
    ask=_ask,
    program=_program,
)  # fmt: skip
RUNTIME = RuntimeProbe(ID, TITLE, find, setting)
