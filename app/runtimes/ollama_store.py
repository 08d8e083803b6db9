"""Finds the GGUF files in Ollama's store: manifests name blobs, which have no ending."""

import re
from collections.abc import Iterator

from app.core.host import Host
from app.core.machine import FoundModel
from app.runtimes.answers import document, objects, text
from app.runtimes.places import join, variable

_SOURCE = "Ollama"
_MODEL = "application/vnd.ollama.image.model"
_TENSOR = "application/vnd.ollama.image.tensor"
_DIGEST = re.compile(r"sha256[:-]([0-9a-f]{64})")
# the second was proposed in spring 2026 (Ollama pull request 15735)
_MANIFESTS = ("manifests", "manifest-v2")
_MAX_NOTES = 20


def models(host: Host, notes: list[str]) -> Iterator[FoundModel]:
    """Yield the models of all stores; what is not a GGUF, or not there, becomes a note."""
    for store in stores(host):
        for root in _MANIFESTS:
            for path, title in _manifests(host, join(host, store, root)):
                yield from _model(host, store, path, title, notes)


def stores(host: Host) -> tuple[str, ...]:
    """Return where Ollama keeps models, the service's folders too."""
    given = variable(host, "OLLAMA_MODELS")
    own = join(host, host.home(), ".ollama", "models")
    if host.platform() != "linux":
        return tuple(dict.fromkeys(folder for folder in (given, own) if folder))
    service = ("/usr/share/ollama/.ollama/models", "/var/lib/ollama", "/var/lib/ollama/models")
    return tuple(dict.fromkeys(folder for folder in (given, own, *service) if folder))


def title_of(server: str, namespace: str, name: str, tag: str) -> str:
    """Return the name as Ollama prints it: llama3:8b, someone/model:tag, hf.co/owner/repo:tag."""
    if server in ("registry.ollama.ai", "ollama.com"):
        return f"{name}:{tag}" if namespace == "library" else f"{namespace}/{name}:{tag}"
    return f"{server}/{namespace}/{name}:{tag}"


def parse_manifest(content: str) -> tuple[str | None, str]:
    """Return the hexadecimal digest of the GGUF layer, or None and why there is none."""
    layers = objects(content.encode("utf-8", "replace"), "layers")
    for layer in layers:
        if text(layer, "mediaType") == _MODEL:
            match = _DIGEST.fullmatch(text(layer, "digest"))
            return (match[1], "") if match else (None, "its manifest has no valid digest")
    if any(text(layer, "mediaType") == _TENSOR for layer in layers):
        return None, "it is stored as tensors (MLX), not as a GGUF file"
    if document(content.encode("utf-8", "replace")):
        return None, "its manifest names no model file"
    return None, "its manifest is not readable"


def _model(host: Host, store: str, path: str, title: str, notes: list[str]) -> Iterator[FoundModel]:
    digest, reason = parse_manifest(host.read_text(path) or "")
    if digest is not None:
        for separator in ("-", ":"):
            blob = join(host, store, "blobs", f"sha256{separator}{digest}")
            if host.is_file(blob):
                yield FoundModel(blob, title, 0, _SOURCE)
                return
        reason = "its file is missing from the store"
    if len(notes) < _MAX_NOTES:
        notes.append(f"{_SOURCE} {title}: {reason}.")


def _manifests(host: Host, root: str) -> Iterator[tuple[str, str]]:
    """Yield (path, title) of host/namespace/model/tag."""
    for server in host.list_dir(root):
        for namespace in host.list_dir(join(host, root, server)):
            for name in host.list_dir(join(host, root, server, namespace)):
                folder = join(host, root, server, namespace, name)
                for tag in host.list_dir(folder):
                    yield join(host, folder, tag), title_of(server, namespace, name, tag)
