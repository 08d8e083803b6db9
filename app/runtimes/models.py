"""Finds the GGUF files on this computer, in the folders where runtimes keep them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from app.core.cancel import Cancel
from app.core.host import Host
from app.core.machine import FoundModel
from app.runtimes import gguf_head, jan, lm_studio, ollama_store
from app.runtimes.answers import document, objects, text
from app.runtimes.places import join, variable

_PART = re.compile(r"(.*)-(\d{5})-of-(\d{5})\.gguf", re.IGNORECASE)
_BLOB = re.compile(r"sha256:([0-9a-f]{64})")
_MAX_BLOBS = 50
_MAX_DEPTH = 4
_MAX_FOLDERS = 2000
_MAX_FILES = 5000


@dataclass(frozen=True, slots=True)
class Found:
    """The models, and in words what could not be listed."""

    models: tuple[FoundModel, ...]
    notes: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()  # those that the user chose


def find_models(host: Host, folders: tuple[str, ...] = (), cancel: Cancel | None = None) -> Found:
    """Return each GGUF file once; `folders` are those the user chose, searched some levels deep."""
    notes: list[str] = []
    models: list[FoundModel] = []
    seen: set[str] = set()
    for number, candidate in enumerate(_candidates(host, folders, notes)):
        if cancel is not None:
            cancel.check()
        if number >= _MAX_FILES:
            notes.append(f"More than {_MAX_FILES:,} files: the rest is not listed.")
            break
        real = host.real_path(candidate.path)
        if real in seen:
            continue
        seen.add(real)
        size = host.file_bytes(candidate.path)
        start = host.read_start(candidate.path, gguf_head.N_BYTES)
        if size is None or not start.startswith(gguf_head.MAGIC):
            continue
        arch = gguf_head.architecture(start)
        models.append(
            replace(
                candidate,
                n_bytes=size,
                is_projector=gguf_head.is_projector(candidate.title, arch),
                is_draft=gguf_head.is_draft(candidate.title, arch),
            )
        )
    return Found(_joined(tuple(models)), tuple(notes), folders)


def _candidates(host: Host, folders: tuple[str, ...], notes: list[str]) -> Iterator[FoundModel]:
    for folder in folders:
        yield from _walk(host, folder, "chosen folder")
    for hub in _hugging_face(host):
        yield from _hub(host, hub)
    yield from _flat(host, _llama_cache(host), "llama.cpp cache")
    yield from _lm_studio(host)
    yield from ollama_store.models(host, notes)
    yield from _jan(host)
    yield from _flat(host, _gpt4all(host), "GPT4All")
    yield from _docker(host)


def _hugging_face(host: Host) -> tuple[str, ...]:
    """Return the hub caches; llama.cpp has a variable of its own since early 2026."""
    home = host.home()
    given = (
        variable(host, "HF_HUB_CACHE"),
        variable(host, "HUGGINGFACE_HUB_CACHE"),
        join(host, variable(host, "HF_HOME"), "hub"),
        join(host, variable(host, "XDG_CACHE_HOME"), "huggingface", "hub"),
        join(host, home, ".cache", "huggingface", "hub"),
    )
    own = variable(host, "LLAMA_CACHE")
    first = next(folder for folder in given if folder)
    return tuple(folder for folder in dict.fromkeys((own, first)) if folder)


def _hub(host: Host, hub: str) -> Iterator[FoundModel]:
    for name in host.list_dir(hub):
        if not name.startswith("models--"):
            continue
        repository = name.removeprefix("models--").replace("--", "/", 1)
        snapshots = join(host, hub, name, "snapshots")
        for commit in host.list_dir(snapshots):
            root = join(host, snapshots, commit)
            for found in _walk(host, root, "Hugging Face cache", depth=1):
                yield replace(found, title=f"{repository}/{found.title}")


def _llama_cache(host: Host) -> str:
    given = variable(host, "LLAMA_CACHE")
    if given:
        return given
    if host.platform() == "win32":
        return join(host, variable(host, "LOCALAPPDATA"), "llama.cpp")
    if host.platform() == "darwin":
        return join(host, host.home(), "Library", "Caches", "llama.cpp")
    return join(host, host.home(), ".cache", "llama.cpp")


def _lm_studio(host: Host) -> Iterator[FoundModel]:
    home = lm_studio.home_folder(host)
    settings = host.read_text(join(host, home, "settings.json")) or ""
    chosen = text(document(settings.encode("utf-8", "replace")), "downloadsFolder")
    former = join(host, host.home(), ".cache", "lm-studio", "models")
    for folder in dict.fromkeys((chosen or join(host, home, "models"), former)):
        # publisher/repository/file
        yield from _walk(host, folder, "LM Studio", depth=2)


def _jan(host: Host) -> Iterator[FoundModel]:
    for data in jan.data_folders(host):
        root = join(host, data, "llamacpp", "models")
        for name in host.list_dir(root):
            # an id may be owner/name
            inner = host.list_dir(join(host, root, name))
            ids = (name, *(join(host, name, part) for part in inner))
            for model_id in ids:
                yml = host.read_text(join(host, root, model_id, "model.yml")) or ""
                match = re.search(r"^model_path:\s*[\"']?(.+?)[\"']?\s*$", yml, re.MULTILINE)
                if match:
                    # relative to Jan's data; join leaves an absolute path as it is
                    yield FoundModel(join(host, data, match[1]), model_id, 0, "Jan")


def _gpt4all(host: Host) -> str:
    parts = ("nomic.ai", "GPT4All")
    if host.platform() == "win32":
        return join(host, variable(host, "LOCALAPPDATA"), *parts)
    if host.platform() == "darwin":
        return join(host, host.home(), "Library", "Application Support", *parts)
    return join(host, host.home(), ".local", "share", *parts)


def _docker(host: Host) -> Iterator[FoundModel]:
    """Yield the files that Docker Model Runner's index names (its store/index.go)."""
    store = join(host, host.home(), ".docker", "models")
    index = host.read_text(join(host, store, "models.json")) or ""
    for entry in objects(index.encode("utf-8", "replace"), "models"):
        tags, files = entry.get("tags"), entry.get("files")
        title = next((t for t in tags if isinstance(t, str)), "") if isinstance(tags, list) else ""
        for name in files[:_MAX_BLOBS] if isinstance(files, list) else ():
            match = _BLOB.fullmatch(name) if isinstance(name, str) else None
            if match:  # a licence is a file as well; it does not begin as a GGUF does
                path = join(host, store, "blobs", "sha256", match[1])
                label = (title or match[1][:12])[:200]
                yield FoundModel(path, label, 0, "Docker Model Runner")


def _flat(host: Host, folder: str, source: str) -> Iterator[FoundModel]:
    if folder:
        yield from _walk(host, folder, source, depth=0)


def _walk(host: Host, root: str, source: str, *, depth: int = _MAX_DEPTH) -> Iterator[FoundModel]:
    """Yield the .gguf files below a folder by name; a partial download has another ending."""
    waiting = [(root, "", depth)]
    n_folders = 0
    while waiting and n_folders < _MAX_FOLDERS:
        folder, title, left = waiting.pop()
        n_folders += 1
        for name in host.list_dir(folder):
            path = join(host, folder, name)
            label = f"{title}/{name}" if title else name
            if name.lower().endswith(".gguf"):
                yield FoundModel(path, label, 0, source)
            elif left and not name.startswith(".") and not host.is_file(path):
                waiting.append((path, label, left - 1))


def _joined(models: tuple[FoundModel, ...]) -> tuple[FoundModel, ...]:
    """Make one model of the parts of a split file; one that lacks parts says so."""
    groups: dict[str, list[FoundModel]] = {}
    for model in models:
        match = _PART.fullmatch(model.path)
        groups.setdefault(f"{match[1]}/{match[3]}" if match else model.path, []).append(model)
    found = []
    for parts in groups.values():
        first = min(parts, key=lambda part: part.path)
        found.append(
            replace(
                first,
                n_bytes=sum(part.n_bytes for part in parts),
                n_parts=len(parts),
                n_parts_expected=_expected(first.path),
            )
        )
    return tuple(found)


def _expected(path: str) -> int:
    match = _PART.fullmatch(path)
    return min(int(match[3]), 1000) if match else 1
