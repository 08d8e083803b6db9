"""Takes personal details out of evidence and texts, and counts what it took."""

import getpass
import re
import socket
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from app.core import codec
from app.core.evidence import Evidence

# words that are no secret when they are somebody's user or host name, and that logs are full of
_PLAIN_NAMES = frozenset(
    (
        "root", "user", "users", "admin", "administrator", "home", "guest", "test", "tester",
        "local", "localhost", "server", "client", "main", "default", "docker", "debian", "ubuntu",
        "fedora", "linux", "windows", "macbook", "desktop", "laptop", "workstation", "cuda",
        "vulkan", "metal", "llama", "ollama", "model", "models", "gguf", "qwen", "gemma",
        "mistral", "host", "device", "build", "runner", "system", "memory",
    )
)  # fmt: skip
_SMALLEST_NAME = 4  # shorter ones are words of logs too (max, jan); paths lose them all the same
# folders of the system say nothing about a person
_SYSTEM = (
    "/usr/", "/opt/", "/sys/", "/proc/", "/etc/", "/bin/", "/lib/", "/dev/", "/Applications/",
    "/System/", "/Library/", "c:/windows/", "c:/program files",
)  # fmt: skip

HOME, USER, HOST, FOLDER = "home folder", "user name", "host name", "folder of a model or log"
SECRET, ADDRESS, ID, MAIL = "key or token", "network address", "hardware id", "e-mail address"

_SECRET_FLAGS = ("--api-key", "--hf-token", "-hft", "--ssl-key", "--token", "--password")
_SECRETS = re.compile(
    r"(?P<before>(?:--api-key|--hf-token|-hft|--token|--password)(?:\s+|=)[\"']?"
    r"|\b(?:[A-Z0-9]+_)*(?:API_KEY|TOKEN|PASSWORD|SECRET)=[\"']?"
    r"|(?i:api[_-]?keys?[\"']?\s*[:=]\s*[\"']?)"
    r"|(?i:\bbearer\s+))(?P<secret>[^\s\"',;]{3,})"
)
_KNOWN_SECRETS = re.compile(r"\b(?:sk-[\w-]{16,}|hf_\w{16,}|ghp_\w{20,}|xox[abp]-[\w-]{10,})")
_HOMES = re.compile(
    r"(?P<root>/home/|/Users/|/run/media/|/media/|/mnt/[a-z]/Users/|[A-Za-z]:[\\/]+Users[\\/]+)"
    r"(?P<name>[^\\/\s:\"'<>]+)"
)
_UNC = re.compile(r"\\\\(?!\?|\.)(?P<name>[\w.-]+)\\")
_MAIL = re.compile(r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b")
_UUID = re.compile(
    r"\b(?:GPU-|MIG-)?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", re.IGNORECASE
)
_MAC = re.compile(r"\b(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}\b", re.IGNORECASE)
_IPV4 = re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.]*\w)")
_IPV6 = re.compile(
    r"(?<![\w:.])(?:(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}|"
    r"(?:[0-9a-f]{1,4}:)+(?::[0-9a-f]{1,4})+|(?:[0-9a-f]{1,4}:){2,7}:)(?![\w:])",
    re.IGNORECASE,
)
_URL = re.compile(r"(?P<before>\b(?:https?|rpc|tcp)://)(?P<name>[\w.-]+)")
# llama.cpp's time stamps (minutes, seconds, ms, us) look like addresses from the 10th minute on
_STAMP = re.compile(r"(?:\x1b\[[\d;]*m)*(\d+\.\d\d\.\d{3}\.\d{3})(?=(?:\x1b\[[\d;]*m| )+[DIWE]\b)")
# pages that logs and programs point to for everybody
_PUBLIC_HOSTS = (".github.com", ".huggingface.co", ".ollama.com", ".lmstudio.ai")
_OWN_ADDRESSES = frozenset(("127.0.0.1", "0.0.0.0", "localhost", "::1", "::"))
# parts of the evidence that describe a model or a processor: names inside them are not people
_FACTS = frozenset(("keys", "tensors", "arch", "type_name"))


@dataclass(frozen=True, slots=True)
class Person:
    """Whose computer it is: home folder, user name and host name; "" = not known."""

    home: str = ""
    user: str = ""
    host: str = ""


@dataclass(frozen=True, slots=True)
class Redacted:
    """Evidence without personal details, and how many of each kind were taken out."""

    evidence: Evidence
    removed: tuple[tuple[str, int], ...]


def this_person() -> Person:
    """Return the person at this computer."""
    try:
        user = getpass.getuser()
    except (OSError, KeyError):  # a container's user may have no name
        user = ""
    return Person(str(Path.home()), user, socket.gethostname())


def redact(evidence: Evidence, person: Person) -> Redacted:
    """Return the evidence for other eyes: no names, paths, keys, addresses or hardware ids."""
    redactor = Redactor(person, folders_of(evidence))
    document = redactor.plain(codec.to_document(evidence))
    assert isinstance(document, dict)
    return Redacted(codec.from_document(document), redactor.removed)


def folders_of(evidence: Evidence) -> tuple[str, ...]:
    """Return the folders that the evidence knows by path, the longest first."""
    paths = [part.path for part in evidence.model.parts] if evidence.model else []
    for story in evidence.log.loads if evidence.log else ():
        paths.append(story.path or "")
    if evidence.request is not None:
        paths += [evidence.request.projector_path, evidence.request.draft_path]
    if evidence.outcome is not None:
        paths += evidence.outcome.command
    if evidence.said is not None:
        paths += evidence.said.command
    for runtime in evidence.machine.runtimes if evidence.machine else ():
        paths += [runtime.folder + "/", *(program.path for program in runtime.programs)]
    folders = {_folder(path) for path in paths}
    return tuple(sorted((f for f in folders if f), key=lambda text: (-len(text), text)))


def _folder(path: str) -> str:
    """Return the folder part of an absolute path with its last slash, "" for anything else."""
    cut = max(path.rfind("/"), path.rfind("\\"))
    folder = path[: cut + 1]
    is_absolute = folder.startswith(("/", "\\\\")) or folder[1:3] in (":\\", ":/")
    if not is_absolute or len(folder) < 3:
        return ""
    flat = folder.replace("\\", "/").lower()
    return "" if flat.startswith(tuple(name.lower() for name in _SYSTEM)) else folder


def _is_figure(digits: str, before: str) -> bool:
    """Tell whether four numbers with dots are a version or a time and no address."""
    if before.rstrip(" :=v").lower().endswith(("version", "driver", "api", "build", "vulkan")):
        return True
    parts = digits.split(".")
    has_zeros = any(len(part) > 1 and part.startswith("0") for part in parts)
    return has_zeros or parts[0] == "0" or any(int(part) > 255 for part in parts)


@dataclass(slots=True)
class Redactor:
    """Changes texts; the same address gets the same number all through one report."""

    person: Person
    folders: tuple[str, ...] = ()
    _counts: Counter[str] = field(default_factory=Counter)
    _addresses: dict[str, str] = field(default_factory=dict)

    @property
    def removed(self) -> tuple[tuple[str, int], ...]:
        """Return what was taken out so far, by kind."""
        return tuple(sorted((kind, n) for kind, n in self._counts.items() if n))

    def text(self, text: str, *, is_fact: bool = False) -> str:
        """Return a text without personal details; in a fact about a model, names stay."""
        if not text:
            return text
        text = self._secrets(text)
        text = self._paths(text)
        if is_fact:
            return text
        text = self._sub(_MAIL, "<e-mail>", MAIL, text)
        text = self._sub(_UUID, "<id>", ID, text)
        text = self._sub(_MAC, "<id>", ID, text)
        text = self._hosts(text)
        return self._names(text)

    def plain(self, value: object, *, is_fact: bool = False) -> object:
        """Return parsed JSON with every text in it changed; keys of objects stay."""
        if isinstance(value, str):
            return self.text(value, is_fact=is_fact)
        if isinstance(value, Mapping):
            return {
                key: self.plain(item, is_fact=is_fact or key in _FACTS)
                for key, item in value.items()
            }
        if isinstance(value, list):
            return list(self._items(value, is_fact=is_fact))
        return value

    def _items(self, values: list[object], *, is_fact: bool) -> Iterator[object]:
        """Change a list; in a command line the word after a secret flag goes whole."""
        is_secret = False
        for value in values:
            # in a program's list of options the same flag stands beside its other names
            is_value = isinstance(value, str) and value not in (*_SECRET_FLAGS, "<secret>")
            if is_secret and is_value:
                self._counts[SECRET] += 1
                yield "<secret>"
            else:
                yield self.plain(value, is_fact=is_fact)
            is_secret = value in _SECRET_FLAGS

    def _secrets(self, text: str) -> str:
        def hide(match: re.Match[str]) -> str:
            if match["secret"].startswith("<"):
                return match[0]
            self._counts[SECRET] += 1
            return f"{match['before']}<secret>"

        return self._sub(_KNOWN_SECRETS, "<secret>", SECRET, _SECRETS.sub(hide, text))

    def _paths(self, text: str) -> str:
        for folder in self.folders:
            found = text.count(folder)
            text = text.replace(folder, "<folder>/")
            if text == folder[:-1]:
                text, found = "<folder>", 1
            self._counts[FOLDER] += found
        home = self.person.home
        if len(home) > 1 and home in text:
            pattern = re.compile(rf"{re.escape(home)}(?![\w.-])")
            text = self._sub(pattern, "~", HOME, text)

        def hide(match: re.Match[str]) -> str:
            if match["name"].startswith("<"):
                return match[0]
            self._counts[HOME] += 1
            return f"{match['root']}<user>"

        text = _HOMES.sub(hide, text)
        return self._sub(_UNC, r"\\\\<host>\\", HOST, text)

    def _hosts(self, text: str) -> str:
        def hide(match: re.Match[str]) -> str:
            found = match["name"] if "name" in match.groupdict() else match[0]
            before = match["before"] if "before" in match.groupdict() else ""
            if found.lower() in _OWN_ADDRESSES or found.startswith("<"):
                return match[0]
            if f".{found.lower()}".endswith(_PUBLIC_HOSTS):
                return match[0]
            if _IPV4.fullmatch(found) and _is_figure(found, text[: match.start()]):
                return match[0]
            self._counts[ADDRESS] += 1
            number = self._addresses.setdefault(found, f"<address {len(self._addresses) + 1}>")
            return f"{before}{number}"

        stamp = _STAMP.match(text)
        head, text = (stamp[0], text[stamp.end() :]) if stamp is not None else ("", text)
        for pattern in (_URL, _IPV4, _IPV6):
            text = pattern.sub(hide, text)
        return head + text

    def _names(self, text: str) -> str:
        for name, word, kind in (
            (self.person.user, "<user>", USER),
            (self.person.host, "<host>", HOST),
        ):
            if len(name) < _SMALLEST_NAME or name.lower() in _PLAIN_NAMES:
                continue
            pattern = re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", re.IGNORECASE)
            text = self._sub(pattern, word, kind, text)
        return text

    def _sub(self, pattern: re.Pattern[str], word: str, kind: str, text: str) -> str:
        text, n = pattern.subn(word, text)
        if n:
            self._counts[kind] += n
        return text
