"""Writes down what a machine answers, so that another person can look at it; names are left out."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from app.core import json_values
from app.core.host import (
    CommandResult,
    Host,
    HttpAnswer,
    ProcessInfo,
)
from app.core.secrets import HIDDEN, hidden_argv
from app.probes.forwarding import ForwardingHost
from app.probes.recorded import (
    ANSWERS_FILE,
    FILES_FOLDER,
    Answers,
    RecordedHttp,
    key_of,
    place_of,
)

# variables that decide where runtimes and models are, and which devices are visible
_VARIABLES = re.compile(
    r"(?:LLAMA_|HF_|HUGGINGFACE_|OLLAMA_|GGML_|CUDA_VISIBLE|HIP_VISIBLE|ROCR_VISIBLE|XDG_CACHE|"
    r"XDG_DATA|NVIDIA_VISIBLE|LOCALAPPDATA$|APPDATA$|ProgramFiles$|WSL_DISTRO_NAME$|container$)"
)
_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSWORD", re.IGNORECASE)
# other programs of this person are nobody's business
_RUNTIMES = re.compile(
    r"llama|lm[ -]?studio|llmster|kobold|^jan\b|vllm|gpt4all|mlx|sglang|tabby", re.IGNORECASE
)
_OURS = re.compile(r"llama|ggml|gguf|nvidia|ollama|kobold|lms|jan", re.IGNORECASE)
_SLOT_KEYS = ("id", "n_ctx", "is_processing")
_HOMES = {"win32": r"C:\Users\user", "darwin": "/Users/user"}
# dmidecode, system_profiler and nvidia-smi -q print numbers that name one single machine
_SERIAL = re.compile(
    # bounded: a long line without such a word would be tried from each of its words to its end
    r"""(["']?\b[\w -]{0,60}(?:serial|asset[ _]tag|uuid)[\w ]{0,60}["']?\s{0,40}[:=]\s*)"""
    r"""("[^"]*"|[^\s",][^\n,]*)""",
    re.IGNORECASE,
)


class RecordingHost(ForwardingHost):
    """Asks another host and keeps each answer for save."""

    def __init__(self, host: Host, chosen: tuple[str, ...] = ()) -> None:
        """Record host; chosen are the folders that the user named."""
        super().__init__(host)
        self._chosen = chosen
        self._files: dict[str, str] = {}
        self._folders: dict[str, tuple[str, ...]] = {}
        self._sizes: dict[str, int] = {}
        self._starts: dict[str, str] = {}
        self._links: dict[str, str] = {}
        self._usable: dict[str, bool] = {}
        self._programs: dict[str, str] = {}
        self._commands: dict[tuple[str, ...], CommandResult] = {}
        self._http: dict[str, RecordedHttp] = {}

    def read_text(self, path: str, limit: int = 1 << 20) -> str | None:
        """Return a file's text and keep it."""
        text = super().read_text(path, limit)
        if text is not None:
            self._files[path] = text
        return text

    def list_dir(self, path: str) -> tuple[str, ...]:
        """Return the names in a folder and keep them."""
        names = super().list_dir(path)
        if names:
            # of a folder of programs only what can matter: the rest tells what a person installed
            is_shared = key_of(path).endswith("/bin")
            self._folders[path] = tuple(n for n in names if not is_shared or _OURS.search(n))
        return names

    def is_file(self, path: str) -> bool:
        """Tell whether a regular file is there and keep its size."""
        is_there = super().is_file(path)
        if is_there:
            self._sizes[path] = super().file_bytes(path) or 0
        return is_there

    def file_bytes(self, path: str) -> int | None:
        """Return a file's size and keep it."""
        size = super().file_bytes(path)
        if size is not None:
            self._sizes[path] = size
        return size

    def read_start(self, path: str, n_bytes: int) -> bytes:
        """Return at most the first n_bytes of a file and keep them."""
        data = super().read_start(path, n_bytes)
        if data:
            self._starts[path] = data.hex()
        return data

    def may_use(self, path: str) -> bool | None:
        """Tell whether a file or device may be read and written, and keep it."""
        answer = super().may_use(path)
        if answer is not None:
            self._usable[path] = answer
        return answer

    def real_path(self, path: str) -> str:
        """Return the path with links followed and keep it."""
        real = super().real_path(path)
        if real != path:
            self._links[path] = real
        return real

    def which(self, name: str) -> str | None:
        """Return the path of a program on PATH and keep it."""
        path = super().which(name)
        if path is not None:
            self._programs[name] = path
        return path

    def run(self, argv: Sequence[str], timeout_s: float = 2.0) -> CommandResult:
        """Run a program to its end and keep its output."""
        answer = super().run(argv, timeout_s)
        self._commands[answer.argv] = answer
        return answer

    def get(self, url: str, timeout_s: float = 0.5, limit: int = 1 << 20) -> HttpAnswer:
        """GET a loopback address and keep the answer."""
        answer = super().get(url, timeout_s, limit)
        if answer.status is not None:
            body = _without_texts(url, answer.body.decode("utf-8", "replace"))
            self._http[url] = RecordedHttp(url, answer.status, body, answer.server, answer.reason)
        return answer

    def _asked_ports(self) -> frozenset[int | None]:
        return frozenset(urlsplit(url).port for url in self._http)

    def save(self, folder: Path) -> None:
        """Write the recording; the home folder gets another name, keys and others' programs go."""
        hide = _Hider(self.home(), self.platform())
        answers = Answers(
            platform=self.platform(),
            home=hide.text(self.home()),
            env=hide.values(_wanted(self.env())),
            programs=hide.values(self._programs),
            commands=tuple(hide.command(answer) for answer in self._commands.values()),
            processes=tuple(
                hide.process(process) for process in self.processes() if _is_runtime(process)
            ),
            listeners=tuple(
                entry for entry in self.listeners() if entry.port in self._asked_ports()
            ),
            http=tuple(
                replace(answer, body=hide.text(answer.body)) for answer in self._http.values()
            ),
            basics=self.basics(),
            nvml=self.nvml(),
            folders={
                hide.path(path): tuple(hide.text(name) for name in names)
                for path, names in self._folders.items()
            },
            sizes={hide.path(path): size for path, size in self._sizes.items()},
            starts={hide.path(path): start for path, start in self._starts.items()},
            usable={hide.path(path): answer for path, answer in self._usable.items()},
            chosen=tuple(hide.path(folder) for folder in self._chosen),
            links={hide.path(path): hide.text(target) for path, target in self._links.items()},
        )
        for path, text in self._files.items():
            target = folder / FILES_FOLDER / place_of(hide.path(path))
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(hide.text(text), encoding="utf-8", newline="")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / ANSWERS_FILE).write_bytes(json_values.dumps(json_values.to_plain(answers)))


class _Hider:
    """Replaces the home folder and the name in it."""

    def __init__(self, home: str, platform: str) -> None:
        self._other = _HOMES.get(platform, "/home/user")
        user = re.split(r"[/\\]", home.rstrip("/\\"))[-1]
        spellings = sorted({home, home.replace("\\", "/"), home.replace("\\", "\\\\")}, key=len)
        self._home = re.compile("|".join(map(re.escape, spellings[::-1])))
        # the name by itself only where it is a part of a path: "root" is also a word
        self._user = re.compile(rf"(?<=[/\\]){re.escape(user)}(?=[/\\]|$)")

    def text(self, text: str) -> str:
        """Return the text with another home folder."""
        return self._user.sub("user", self._home.sub(lambda _match: self._other, text))

    def path(self, path: str) -> str:
        """Return a path as recordings write it, with another home folder."""
        return key_of(self.text(path))

    def values(self, mapping: Mapping[str, str]) -> dict[str, str]:
        """Return the mapping with another home folder in its values."""
        return {name: self.text(value) for name, value in mapping.items()}

    def command(self, answer: CommandResult) -> CommandResult:
        """Return a command and its output with another home folder."""
        return replace(
            answer,
            argv=tuple(self.text(word) for word in answer.argv),
            stdout=_SERIAL.sub(rf'\1"{HIDDEN}"', self.text(answer.stdout)),
            stderr=self.text(answer.stderr),
        )

    def process(self, process: ProcessInfo) -> ProcessInfo:
        """Return a process with another home folder and without keys."""
        argv = tuple(self.text(word) for word in hidden_argv(process.argv))
        return replace(process, exe=self.text(process.exe) if process.exe else None, argv=argv)


def _is_runtime(process: ProcessInfo) -> bool:
    """Tell a language model runtime by its name, its model, or what Python runs."""
    if _RUNTIMES.search(process.name):
        return True
    if any(word.lower().endswith(".gguf") for word in process.argv):
        return True
    is_python = process.name.lower().startswith("python")
    return is_python and any(
        _RUNTIMES.search(re.split(r"[/\\]", word)[-1]) for word in process.argv[1:4]
    )


def _without_texts(url: str, body: str) -> str:
    """Return an answer as it may be kept: /slots can hold what a person typed."""
    if urlsplit(url).path != "/slots":
        return body
    try:
        slots = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(slots, list):
        return ""
    kept = [
        {name: slot[name] for name in _SLOT_KEYS if name in slot}
        for slot in slots
        if isinstance(slot, dict)
    ]
    return json.dumps(kept)


def _wanted(env: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value
        for name, value in env.items()
        if _VARIABLES.match(name) and not _SECRET.search(name)
    }
