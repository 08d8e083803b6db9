"""Finds the logs that runtimes keep on this computer, and says how to get those they do not."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from app.core.cancel import Cancel
from app.core.host import Host
from app.runtimes import jan, lm_studio
from app.runtimes.places import join, variable

_MAX_MONTHS = 3  # LM Studio keeps a folder a month
_MAX_PER_SOURCE = 8
JOURNAL = "journalctl -u ollama --no-pager > ollama.log"


@dataclass(frozen=True, slots=True)
class FoundLog:
    """A log file with the program that writes it."""

    path: str
    source: str
    n_bytes: int


@dataclass(frozen=True, slots=True)
class FoundLogs:
    """The logs, the newest of each program first, and commands that write others to a file."""

    logs: tuple[FoundLog, ...]
    commands: tuple[str, ...] = ()


def find_logs(host: Host, cancel: Cancel | None = None) -> FoundLogs:
    """Return the logs in the places where runtimes keep them; empty files are left out."""
    found: dict[str, FoundLog] = {}
    for source, paths in _places(host):
        kept = 0
        for path in paths:
            if cancel is not None:
                cancel.check()
            n_bytes = host.file_bytes(path)
            real = host.real_path(path)
            if n_bytes and real not in found and kept < _MAX_PER_SOURCE:
                found[real] = FoundLog(path, source, n_bytes)
                kept += 1
    has_file = any(log.source == "Ollama" for log in found.values())
    has_service = host.platform() == "linux" and bool(host.which("ollama")) and not has_file
    return FoundLogs(tuple(found.values()), (JOURNAL,) if has_service else ())


def _places(host: Host) -> Iterator[tuple[str, Iterator[str]]]:
    yield "llama.cpp", _of_processes(host)
    yield "Ollama", _ollama(host)
    yield "LM Studio", _lm_studio(host)
    yield "Jan", _jan(host)


def _of_processes(host: Host) -> Iterator[str]:
    """Yield the files that running programs of llama.cpp were told to write (--log-file)."""
    for process in host.processes():
        for flag, path in pairwise(process.argv):
            if flag == "--log-file" and "llama" in process.name.lower():
                yield path


def _ollama(host: Host) -> Iterator[str]:
    """Yield server.log and those before it: server-1.log is the run before (docs of Ollama)."""
    folder = (
        join(host, variable(host, "LOCALAPPDATA"), "Ollama")
        if host.platform() == "win32"
        else join(host, host.home(), ".ollama", "logs")
    )
    yield from _in(host, folder, "server", newest_last=False)


def _lm_studio(host: Host) -> Iterator[str]:
    folder = join(host, lm_studio.home_folder(host), "server-logs")
    months = sorted(host.list_dir(folder), reverse=True)
    for month in months[:_MAX_MONTHS]:
        yield from _in(host, join(host, folder, month), "", newest_last=True)
    yield from _in(host, folder, "", newest_last=True)


def _jan(host: Host) -> Iterator[str]:
    for folder in jan.data_folders(host):
        yield from _in(host, join(host, folder, "logs"), "", newest_last=False)


def _in(host: Host, folder: str, start: str, *, newest_last: bool) -> Iterator[str]:
    names = [n for n in host.list_dir(folder) if n.startswith(start) and n.endswith(".log")]
    # "server.log" comes before "server-1.log"
    for name in sorted(names, key=lambda n: n.replace(".log", ""), reverse=newest_last):
        yield join(host, folder, name)
