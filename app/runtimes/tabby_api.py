"""TabbyAPI: a Python server for ExLlama models; it loads no GGUF."""

from app.core.host import Host
from app.core.machine import Runtime
from app.core.probe import LoadWish, RuntimeProbe
from app.runtimes import others
from app.runtimes.answers import document, text
from app.runtimes.places import join

ID, TITLE, PORT = "tabby-api", "TabbyAPI", 5000


def find(host: Host, folders: tuple[str, ...] = ()) -> tuple[Runtime, ...]:
    """Return it when it runs, or lies in the home folder under its own name."""
    del folders
    return others.find(host, _KIND)


def setting(wish: LoadWish) -> str:
    """Say that it cannot load the file, and the one name that both know."""
    lines = ["# TabbyAPI loads EXL2 and EXL3 models only, no GGUF file"]
    if wish.request.ctx:
        lines.append(f"max_seq_len: {wish.request.ctx}")
    return "\n".join(lines)


def _ask(host: Host, port: int) -> others.Said | None:
    values = document(others.body_of(host, port, "/health"))
    # llama-server and many others say {"status":"ok"}; the word and the list are TabbyAPI's
    if text(values, "status") not in ("healthy", "unhealthy") or "issues" not in values:
        return None
    return others.Said()


def _program(host: Host) -> str | None:
    return others.first_file(host, "", join(host, host.home(), "tabbyAPI", "main.py"))


_KIND = others.Kind(
    ID, TITLE, PORT,
    is_own=others.named(r"tabbyapi", "main.py", "tabbyapi"),
    ask=_ask,
    program=_program,
)  # fmt: skip
RUNTIME = RuntimeProbe(ID, TITLE, find, setting)
