"""llamafile: one file with program and model, found while it runs or in a chosen folder."""

from app.core.host import Host
from app.core.machine import LoadedModel, Runtime
from app.core.probe import LoadWish, RuntimeProbe
from app.runtimes import others, shell
from app.runtimes.answers import document, text
from app.runtimes.places import join, name_of

ID, TITLE, PORT = "llamafile", "llamafile", 8080


def find(host: Host, folders: tuple[str, ...] = ()) -> tuple[Runtime, ...]:
    """Return llamafile when it runs, is on PATH, or lies in a chosen folder."""
    own = next(
        (
            join(host, folder, name)
            for folder in folders
            for name in host.list_dir(folder)[:2000]
            if name.lower().endswith((".llamafile", ".llamafile.exe"))
        ),
        "",
    )
    kind = others.Kind(
        ID, TITLE, PORT,
        is_own=others.named(r".*\.llamafile(?:\.exe)?|llamafile(?:\.exe)?", ".llamafile"),
        ask=_ask,
        program=lambda host: others.first_file(host, "llamafile", own),
    )  # fmt: skip
    return others.find(host, kind)


def setting(wish: LoadWish) -> str:
    """Return the command line (0.9), which is llama.cpp's of that time."""
    request = wish.request
    words = ["llamafile", "--server", "-m", wish.model_path]
    if not request.use_devices:
        words += ["--gpu", "disable"]
    elif request.ngl is not None and request.ngl >= 0:
        words += ["-ngl", str(request.ngl)]
    if request.ctx:
        words += ["-c", str(request.ctx)]
    if request.threads is not None:
        words += ["-t", str(request.threads)]
    return shell.line(tuple(words), platform=wish.platform)


def _ask(host: Host, port: int) -> others.Said | None:
    """Ask as an old llama.cpp is asked; its own server has a header, llama.cpp's another."""
    process = any(
        ".llamafile" in name_of(host, w).lower() for p in host.processes() for w in p.argv
    )
    if not process:
        return None
    values = document(others.body_of(host, port, "/props"))
    if "default_generation_settings" not in values:
        return None
    settings = values["default_generation_settings"]
    model = text(settings, "model") if isinstance(settings, dict) else ""
    return others.Said(loaded=(LoadedModel(name_of(host, model)),) if model else ())


RUNTIME = RuntimeProbe(ID, TITLE, find, setting)
