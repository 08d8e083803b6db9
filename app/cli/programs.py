"""Whose programs a command runs: those of --llama-bin, else the user's own folder, else found."""

from pathlib import Path

from app.cli import BAD_USAGE, CommandError
from app.cli.load_options import NO_DEVICE
from app.core.host import Host
from app.core.machine import Machine, Runtime
from app.core.request import Tool
from app.runtimes import llama_cpp
from app.runtimes.places import executable
from app.work.settings import LLAMA_FOLDER, Settings


def chosen_folder(given: str | None, tools: tuple[Tool, ...], host: Host) -> str:
    """Return the folder in --llama-bin that has one of the programs, "" without the option."""
    if given is None:
        return ""
    root = str(Path(given).expanduser().absolute())
    for place in llama_cpp.places(host, (root,)):
        names = host.list_dir(place.folder) if place.source == llama_cpp.CHOSEN else ()
        if any(executable(host, tool.value) in names for tool in tools):
            return place.folder
    wanted = " and no ".join(tool.value for tool in tools)
    raise CommandError(BAD_USAGE, f"There is no {wanted} in {given} (--llama-bin).")


def check_devices(asked: tuple[str, ...], machine: Machine) -> None:
    """Refuse a device that llama.cpp does not list here, and say which it lists."""
    known = tuple(device.id for device in machine.devices)
    unknown = [name for name in asked if name not in (*known, NO_DEVICE)]
    if not unknown or not machine.devices_source:
        return
    listed = f"lists {', '.join(known)}" if known else "lists no device here"
    raise CommandError(
        BAD_USAGE,
        f"There is no device {', '.join(unknown)} (--device). {machine.devices_source} {listed}; "
        f"{NO_DEVICE} uses the processor alone.",
    )


def folders(chosen: str, settings: Settings) -> tuple[str, ...]:
    """Return the folders to look into first."""
    own = chosen or settings.get(LLAMA_FOLDER)
    return (own,) if own else ()


def runtime_with(tool: Tool, machine: Machine, chosen: str) -> Runtime | None:
    """Return the first llama.cpp that has a program; only the chosen one, if one was chosen."""
    for runtime in machine.runtimes:
        is_wanted = not chosen or runtime.folder == chosen
        if runtime.id == llama_cpp.ID and is_wanted and runtime.program(tool.value):
            return runtime
    return None
