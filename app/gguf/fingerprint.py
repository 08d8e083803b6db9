"""Names a model file by the SHA-256 of its header, so that a report finds it under any name."""

import hashlib
from pathlib import Path

MAX_BYTES = 256 << 20
_BLOCK = 1 << 20


def header_sha256(path: str | Path, n_bytes: int) -> str | None:
    """Return the hash of the first bytes of a file as hex; None when they cannot be read."""
    left = min(n_bytes, MAX_BYTES)
    found = hashlib.sha256()
    try:
        with Path(path).open("rb") as file:
            while left > 0:
                block = file.read(min(_BLOCK, left))
                if not block:
                    return None
                found.update(block)
                left -= len(block)
    except OSError:
        return None
    return found.hexdigest()
