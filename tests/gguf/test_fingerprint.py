"""A header's hash is that of its bytes; a file that is too short has none."""

import hashlib
from pathlib import Path

from app.gguf.fingerprint import header_sha256


def test_hash_is_of_the_header_alone(tmp_path: Path) -> None:
    file = tmp_path / "m.gguf"
    file.write_bytes(b"GGUF" * 1_000_000)
    assert header_sha256(file, 3_000_000) == hashlib.sha256(b"GGUF" * 750_000).hexdigest()


def test_hash_is_none_when_the_file_is_short_or_gone(tmp_path: Path) -> None:
    file = tmp_path / "m.gguf"
    assert header_sha256(file, 4) is None
    file.write_bytes(b"GG")
    assert header_sha256(file, 4) is None
