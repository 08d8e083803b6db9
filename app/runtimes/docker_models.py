"""Docker Model Runner: llama.cpp inside Docker, with an address of its own."""

from typing import Any

from app.core.host import Host
from app.core.machine import LoadedModel, Runtime
from app.core.probe import LoadWish, RuntimeProbe
from app.runtimes import others, ports, shell
from app.runtimes.answers import document, items, text

ID, TITLE, PORT = "docker-model-runner", "Docker Model Runner", 12434


def find(host: Host, folders: tuple[str, ...] = ()) -> tuple[Runtime, ...]:
    """Return it when its process or its address is there."""
    del folders
    return others.find(host, _KIND)


def setting(wish: LoadWish) -> str:
    """Return the commands of `docker model` (1.0)."""
    lines = []
    words = ["docker", "model", "configure"]
    if wish.request.ctx:
        words += ["--context-size", str(wish.request.ctx)]
    flags = []  # handed to its llama-server as they are, which knows -ngl but no --ngl
    if not wish.request.use_devices:
        flags = ["--n-gpu-layers", "0"]
    elif wish.request.ngl is not None and wish.request.ngl >= 0:
        flags = ["--n-gpu-layers", str(wish.request.ngl)]
    if len(words) > 3 or flags:
        words += ["MODEL", *(["--", *flags] if flags else [])]
        lines.append(shell.line(tuple(words), platform=wish.platform))
    lines.append("docker model run MODEL")
    return "\n".join(lines)


def _ask(host: Host, port: int) -> others.Said | None:
    # the root says in words what it is; the list at /models alone could be anybody's
    greeting = ports.get(host, port, "/")
    if b"docker model runner" not in greeting.body[:300].lower():
        return None
    # what runs (`docker model ps`) and the engine's own words (`docker model status`)
    running = items(others.body_of(host, port, "/engines/ps"))
    engines = document(others.body_of(host, port, "/engines/status"))
    return others.Said(
        text(engines, "llama.cpp").rpartition(": ")[2][:60] or None,
        tuple(LoadedModel(text(item, "model_name"), settings=_words(item)) for item in running),
    )


def _words(item: dict[str, Any]) -> tuple[str, ...]:
    name = text(item, "backend_name")[:40]
    state = "loading" if item.get("loading") is True else ""
    return tuple(word for word in (f"by {name}" if name else "", state) if word)


_KIND = others.Kind(
    ID, TITLE, PORT,
    is_own=others.named(r"com\.docker\.llama-server(?:\.exe)?|model-runner"),
    ask=_ask,
    program=lambda _host: None,
)  # fmt: skip
RUNTIME = RuntimeProbe(ID, TITLE, find, setting)
