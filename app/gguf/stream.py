"""Reads the header of a GGUF file from front to back: buffered, bounded, and aware of its place."""

import struct
from typing import BinaryIO, NoReturn

from app.core.cancel import Cancel
from app.core.errors import UserError

CHUNK_BYTES = 1 << 20
# GGUF_MAX_STRING_LENGTH and GGUF_MAX_ARRAY_ELEMENTS of llama.cpp ggml/src/gguf.cpp, build 11434
MAX_STRING_BYTES = 1 << 30
MAX_ARRAY_ENTRIES = 1 << 30

_AGAIN = "Download or copy the file again and compare its size with the one at its source."


class Stream:
    """Reads a header from front to back and never holds more than a chunk of it."""

    __slots__ = (
        "_base",
        "_begun",
        "_buffer",
        "_cancel",
        "_file",
        "_length",
        "_pos",
        "file_bytes",
        "name",
        "order",
        "place",
    )

    def __init__(self, file: BinaryIO, file_bytes: int, name: str, cancel: Cancel | None) -> None:
        self._file = file
        self._cancel = cancel
        self._buffer = b""
        self._base = 0  # offset of the buffer in the file
        self._pos = 0  # position in the buffer; may lie past its end after a skip
        self._begun = 0  # offset of the record read last, for messages
        self.file_bytes = file_bytes
        self.name = name
        self.place = "the magic"  # what is being read, in words, for messages
        self.set_order("<")

    def set_order(self, order: str) -> None:
        """Set the byte order: < for little-endian, > for big-endian."""
        self.order = order
        self._length = struct.Struct(order + "Q")

    @property
    def offset(self) -> int:
        """Return where the next byte will be read, counted from the start of the file."""
        return self._base + self._pos

    def unpack(self, layout: struct.Struct) -> tuple[int, ...]:
        """Read one fixed-size record."""
        self._need(layout.size)
        self._begun = self.offset
        values = layout.unpack_from(self._buffer, self._pos)
        self._pos += layout.size
        return values

    def take(self, n: int) -> bytes:
        """Read n bytes; the caller has bounded n."""
        self._need(n)
        self._begun = self.offset
        data = self._buffer[self._pos : self._pos + n]
        self._pos += n
        return data

    def skip(self, n: int) -> None:
        """Step over n bytes without reading them."""
        if self.offset + n > self.file_bytes:
            self.cut()
        self._pos += n

    def length(self, limit: int = MAX_STRING_BYTES) -> int:
        """Read the length of a string and check it against the limit and the file, in bytes."""
        (n,) = self.unpack(self._length)
        if n > limit:
            self.damaged(f"a text of {n:,} bytes, where at most {limit:,} make sense")
        if n > self.file_bytes - self.offset:
            self.cut()
        return n

    def skip_strings(self, n: int) -> None:
        """Step over n strings: one length read for each, the bodies untouched."""
        place, left = self.place, n
        unpack_from = self._length.unpack_from
        while left:
            self._need(8)
            buffer, pos = self._buffer, self._pos
            try:
                for left in range(left, 0, -1):  # noqa: B007, B020  (goes on where it stopped)
                    pos += 8 + unpack_from(buffer, pos)[0]
                left = 0
            except (struct.error, OverflowError):
                pass  # the next length is not in this chunk
            self._pos = pos
            is_past = self.offset > self.file_bytes
            self.place = f"{place}, text {n - left + (not is_past):,} of {n:,}"
            if self.offset - self.file_bytes > MAX_STRING_BYTES:
                self.damaged(f"a text of more than {MAX_STRING_BYTES:,} bytes")
            if is_past:
                self.cut()
        self.place = place

    def cut(self) -> NoReturn:
        """Refuse a file that ends inside its header."""
        raise UserError(
            f"{self.name} ends inside its header",
            f"The file has {self.file_bytes:,} bytes and ends inside {self.place}"
            f" (offset {min(self.offset, self.file_bytes):,}).",
            f"The download or copy was interrupted. {_AGAIN}",
        )

    def damaged(self, what: str) -> NoReturn:
        """Refuse a header that says something impossible."""
        raise UserError(
            f"The header of {self.name} is damaged",
            f"At offset {self._begun:,}, in {self.place}: {what}.",
            _AGAIN,
        )

    def _need(self, n: int) -> None:
        """Have n bytes in the buffer at the position, or refuse the file."""
        if self._pos + n <= len(self._buffer):
            return
        if self._cancel is not None:
            self._cancel.check()
        if self.offset + n > self.file_bytes:
            self.cut()
        base = self.offset
        self._buffer = b""  # let go of the old chunk before the new one is there
        self._file.seek(base)
        self._buffer = self._file.read(max(n, CHUNK_BYTES))
        self._base, self._pos = base, 0
        if len(self._buffer) < n:  # the file became shorter while we read it
            self.file_bytes = base + len(self._buffer)
            self.cut()
