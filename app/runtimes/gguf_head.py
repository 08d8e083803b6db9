"""Looks at a GGUF file's first bytes: what kind of file it is, without reading its header."""

import struct

MAGIC = b"GGUF"
N_BYTES = 1024  # converters write the architecture first (gguf-py, gguf_writer.py)
_KEY = b"general.architecture"
_TEXT = 8  # GGUF_TYPE_STRING
_HEAD = struct.Struct("<IQ")
_LONGEST = 64
# heads that guess tokens for another model: llama.cpp's names of such architectures
_DRAFTS = ("eagle", "medusa", "dflash")


def architecture(data: bytes) -> str:
    """Return general.architecture of a file's first bytes, "" when it is not among them."""
    place = data.find(_KEY)
    start = place + len(_KEY)
    if place < 0 or len(data) < start + _HEAD.size:
        return ""
    kind, length = _HEAD.unpack_from(data, start)
    if kind != _TEXT or not 0 < length <= _LONGEST:
        return ""
    found = data[start + _HEAD.size : start + _HEAD.size + length]
    return found.decode("ascii", "replace") if len(found) == length else ""


def is_projector(name: str, arch: str) -> bool:
    """Tell the eyes or ears of a model (mmproj), which llama.cpp knows as clip."""
    return arch == "clip" or "mmproj" in name.lower()


def is_draft(name: str, arch: str) -> bool:
    """Tell a model that is made to guess for another: by its architecture or its maker's name."""
    words = name.lower().replace("_", "-").replace(".", "-").replace("/", "-").split("-")
    return arch.lower().startswith(_DRAFTS) or "draft" in words or "speculator" in words
