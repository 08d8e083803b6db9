"""A machine from a recording: a folder with host.json and the files that were read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from app import product
from app.core import json_values
from app.core.errors import UserError
from app.core.host import (
    Basics,
    CommandResult,
    HttpAnswer,
    Listener,
    NvmlAnswer,
    ProcessInfo,
)
from app.core.reading import State

SCHEMA = product.schema("recording")
ANSWERS_FILE = "host.json"
FILES_FOLDER = "files"
_TITLE = "This hardware recording cannot be read"
_ANSWERS_LIMIT = 32 << 20
_FILE_LIMIT = 4 << 20
_MAX_FILES = 20_000


@dataclass(frozen=True, slots=True)
class RecordedHttp:
    """What a loopback server answered to a GET."""

    url: str
    status: int | None
    body: str = ""
    server: str = ""
    reason: str = ""


def _no_nvml() -> NvmlAnswer:
    reason = "NVIDIA's library (NVML) is not in the recording"
    return NvmlAnswer(State.ABSENT, reason)


@dataclass(frozen=True, slots=True)
class Answers:
    """All answers but the texts of files; what is not here was not there."""

    schema: str = SCHEMA
    platform: str = "linux"
    home: str = "/home/user"
    env: Mapping[str, str] = field(default_factory=dict)
    programs: Mapping[str, str] = field(default_factory=dict)  # on PATH: name -> path
    commands: tuple[CommandResult, ...] = ()
    processes: tuple[ProcessInfo, ...] = ()
    listeners: tuple[Listener, ...] = ()
    http: tuple[RecordedHttp, ...] = ()
    basics: Basics = field(default_factory=Basics)
    nvml: NvmlAnswer = field(default_factory=_no_nvml)
    folders: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    sizes: Mapping[str, int] = field(default_factory=dict)  # files whose text was not read
    starts: Mapping[str, str] = field(default_factory=dict)  # their first bytes, hexadecimal
    links: Mapping[str, str] = field(default_factory=dict)
    usable: Mapping[str, bool] = field(default_factory=dict)  # devices: may we use them?
    chosen: tuple[str, ...] = ()  # folders that the user had named


class RecordedHost:
    """Answers from a recording."""

    def __init__(self, answers: Answers, files: Mapping[str, bytes] | None = None) -> None:
        self._answers = answers
        self._files = {key_of(path): data for path, data in (files or {}).items()}
        self._folders = _folders(answers, self._files)

    @property
    def chosen(self) -> tuple[str, ...]:
        """Return the folders that the user had named, to look into first."""
        return self._answers.chosen

    def platform(self) -> str:
        """Return the recorded platform."""
        return self._answers.platform

    def read_text(self, path: str, limit: int = 1 << 20) -> str | None:
        """Return a recorded text."""
        data = self._files.get(key_of(path))
        return None if data is None else data[:limit].decode("utf-8", "replace")

    def list_dir(self, path: str) -> tuple[str, ...]:
        """Return the names of what is recorded in a folder."""
        return tuple(sorted(self._folders.get(key_of(path), ())))

    def is_file(self, path: str) -> bool:
        """Tell whether a file is recorded."""
        return key_of(path) in self._files or key_of(path) in self._answers.sizes

    def file_bytes(self, path: str) -> int | None:
        """Return a recorded size."""
        key = key_of(path)
        if key in self._answers.sizes:
            return self._answers.sizes[key]
        return len(self._files[key]) if key in self._files else None

    def read_start(self, path: str, n_bytes: int) -> bytes:
        """Return the recorded first bytes."""
        key = key_of(path)
        if key in self._files:
            return self._files[key][:n_bytes]
        try:
            return bytes.fromhex(self._answers.starts.get(key, ""))[:n_bytes]
        except ValueError:
            return b""

    def may_use(self, path: str) -> bool | None:
        """Return what was recorded."""
        return self._answers.usable.get(key_of(path))

    def real_path(self, path: str) -> str:
        """Return the recorded target of a link."""
        return self._answers.links.get(key_of(path), path)

    def env(self) -> Mapping[str, str]:
        """Return the recorded variables."""
        return self._answers.env

    def home(self) -> str:
        """Return the recorded home folder; its name is made up."""
        return self._answers.home

    def which(self, name: str) -> str | None:
        """Return a recorded path."""
        return self._answers.programs.get(name)

    def run(self, argv: Sequence[str], timeout_s: float = 2.0) -> CommandResult:
        """Return the recorded output of this very command."""
        del timeout_s
        words = tuple(argv)
        found = next((answer for answer in self._answers.commands if answer.argv == words), None)
        if found is not None:
            return found
        return CommandResult(words, State.MISSING, None, "", "", "the program is not there")

    def processes(self) -> tuple[ProcessInfo, ...]:
        """Return the recorded processes."""
        return self._answers.processes

    def listeners(self) -> tuple[Listener, ...]:
        """Return the recorded listeners."""
        return self._answers.listeners

    def get(self, url: str, timeout_s: float = 0.5, limit: int = 1 << 20) -> HttpAnswer:
        """Return the recorded answer of this very address."""
        del timeout_s
        found = next((answer for answer in self._answers.http if answer.url == url), None)
        if found is None:
            return HttpAnswer(None, b"", "no connection: nothing is recorded for it")
        body = found.body.encode("utf-8", "replace")[:limit]
        return HttpAnswer(found.status, body, found.reason, found.server)

    def basics(self) -> Basics:
        """Return the recorded basics."""
        return self._answers.basics

    def nvml(self) -> NvmlAnswer:
        """Return the recorded answers of NVIDIA's library."""
        return self._answers.nvml


def load(folder: Path) -> RecordedHost:
    """Return the machine of a recording; UserError says what is wrong with it."""
    return RecordedHost(*read_folder(folder))


def read_folder(folder: Path) -> tuple[Answers, dict[str, bytes]]:
    """Return the answers and the files' contents by path."""
    path = folder / ANSWERS_FILE
    try:
        with path.open("rb") as file:
            data = file.read(_ANSWERS_LIMIT + 1)
    except OSError as error:
        advice = f"Choose the folder that holds {ANSWERS_FILE}"
        raise UserError(_TITLE, f"{path.name}: {error.strerror}", advice) from None
    document = json_values.parse(data, limit_bytes=_ANSWERS_LIMIT, title=_TITLE)
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise UserError(_TITLE, f"{ANSWERS_FILE} is not {SCHEMA}")
    answers = json_values.from_plain(Answers, document, where="host", title=_TITLE)
    return answers, _read_files(folder / FILES_FOLDER)


def key_of(path: str) -> str:
    """Return a path as recordings write it: with slashes, without one at the end."""
    key = path.replace("\\", "/")
    return key.rstrip("/") or "/"


def place_of(key: str) -> str:
    """Return where a path's text lies below the folder of files; C: becomes C_."""
    return key.lstrip("/").replace(":", "_", 1) if ":" in key[:3] else key.lstrip("/")


def _read_files(root: Path) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for path in sorted(root.rglob("*")):
        if len(found) >= _MAX_FILES:
            raise UserError(_TITLE, f"It holds more than {_MAX_FILES:,} files.")
        if not path.is_file() or path.is_symlink():
            continue
        place = path.relative_to(root).as_posix()
        is_drive = len(place) > 2 and place[1:3] == "_/"
        with path.open("rb") as file:
            data = file.read(_FILE_LIMIT)
        found[f"{place[0]}:{place[2:]}" if is_drive else f"/{place}"] = data
    return found


def _folders(answers: Answers, files: Mapping[str, bytes]) -> dict[str, set[str]]:
    """Return the names in each folder, from what was listed and from the paths of the files."""
    found = {key_of(path): set(names) for path, names in answers.folders.items()}
    for path in (*files, *answers.sizes):
        parent, _, name = path.rpartition("/")
        while name:
            found.setdefault(parent or "/", set()).add(name)
            parent, _, name = parent.rpartition("/")
    return found
