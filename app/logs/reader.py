"""A line index over a log of any size: plain reads, any encoding, growing files, gzip."""

import bisect
import codecs
import gzip
import os
import tempfile
import weakref
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from app.core.cancel import Cancel
from app.core.errors import UserError
from app.logs.lines import plain

BLOCK_BYTES = 4 << 20
MAX_CHARS = 4_000  # of a line that is shown
_LINE_BYTES = 64 * 1024  # of a line that is read for showing
_SPAN_BYTES = 1 << 20  # lines shown together are read at once up to this
_MOST_UNPACKED = 16 << 30
_GZIP = b"\x1f\x8b"

Progress = Callable[[int, str], None]
Sink = Callable[[bytes], None]


class Encoding(Enum):
    """How a log's characters are stored; PowerShell redirections write UTF-16."""

    UTF8 = "utf-8"
    UTF16_LE = "utf-16-le"
    UTF16_BE = "utf-16-be"

    @property
    def unit(self) -> int:
        """Return the bytes of the unit in which line ends are stored."""
        return 1 if self is Encoding.UTF8 else 2


class Growth(Enum):
    """What extend() found."""

    SAME = "same"
    GREW = "grew"
    RESTARTED = "restarted"  # another file is there, or a shorter one: nothing is indexed now,
    # start with a new scanner and call again


@dataclass(slots=True)
class _Table:
    """Where lines end, as offsets behind the line feed, in blocks; never changed but appended."""

    starts: list[int] = field(default_factory=list)  # the offset that a block's ends count from
    firsts: list[int] = field(default_factory=list)  # the number of line ends before the block
    ends: list[npt.NDArray[np.uint32]] = field(default_factory=list)
    n_ends: int = 0
    n_bytes: int = 0

    def add(self, start: int, ends: npt.NDArray[np.uint32], n_bytes: int) -> None:
        if len(ends):
            self.starts.append(start)
            self.firsts.append(self.n_ends)
            self.ends.append(ends)
        self.n_bytes = start + n_bytes
        self.n_ends += len(ends)  # last: another thread may look up to here

    def end(self, line: int) -> int:
        """Return the offset behind a line's end; line -1 ends at 0."""
        if line < 0:
            return 0
        if line >= self.n_ends:
            return self.n_bytes
        block = bisect.bisect_right(self.firsts, line) - 1
        return self.starts[block] + int(self.ends[block][line - self.firsts[block]])

    @property
    def n_lines(self) -> int:
        last = self.end(self.n_ends - 1)
        return self.n_ends + (self.n_bytes > last)


class LineIndex:
    """Finds the lines of a log file. One thread may extend it while another reads lines.

    Lines count from 0 here. Nothing is indexed until extend() is called.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.note = ""  # what was wrong with the file, "" for nothing
        self._table = _Table()
        self._identity: tuple[int, int] | None = None
        self._spool: Path | None = None
        self._drop_spool: Callable[[], object] = lambda: None
        try:
            with path.open("rb") as file:
                head = file.read(4096)
        except OSError as error:
            raise _unreadable(path, error) from error
        self.is_gzip = head.startswith(_GZIP)
        self.encoding = Encoding.UTF8 if self.is_gzip else detect(head)

    def __enter__(self) -> "LineIndex":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def n_lines(self) -> int:
        """Return how many lines are indexed, a last line without an end included."""
        return self._table.n_lines

    @property
    def n_bytes(self) -> int:
        """Return how many bytes are indexed."""
        return self._table.n_bytes

    def extend(
        self,
        cancel: Cancel | None = None,
        progress: Progress | None = None,
        sink: Sink | None = None,
    ) -> Growth:
        """Index what the file holds by now; sink gets the new text as UTF-8, block by block."""
        try:
            with self.path.open("rb") as file:
                status = os.fstat(file.fileno())
                identity = (status.st_dev, status.st_ino)
                is_new = self._identity not in (None, identity)
                self._identity = identity
                if is_new or (not self.is_gzip and status.st_size < self._table.n_bytes):
                    self._restart()
                    return Growth.RESTARTED
                before = self._table.n_bytes
                if not self.is_gzip:
                    file.seek(before)
                    self._index(file, status.st_size, cancel, progress, sink)
                elif self._spool is None:
                    self._unpack(file, status.st_size, cancel, progress, sink)
        except OSError as error:
            raise _unreadable(self.path, error) from error
        return Growth.GREW if self._table.n_bytes > before else Growth.SAME

    def line(self, number: int, limit: int = MAX_CHARS) -> str:
        """Return one line as it is shown; IndexError beyond the last."""
        if not 0 <= number < self.n_lines:
            raise IndexError(number)
        return self.lines(number, number + 1, limit)[0]

    def lines(self, first: int, last: int, limit: int = MAX_CHARS) -> list[str]:
        """Return the lines first to last - 1 as they are shown, each cut at limit characters."""
        table = self._table
        first, last = max(0, first), min(last, table.n_lines)
        if first >= last:
            return []
        edges = [table.end(number) for number in range(first - 1, last)]
        try:
            raw = self._raw(edges)
        except OSError:  # deleted or moved away; extend() says so in words
            raw = [b""] * (last - first)
        return [self._show(part, limit) for part in raw]

    def blocks(self) -> Iterator[bytes]:
        """Yield the indexed text in order as UTF-8, to search it; OSError when it is gone."""
        left = self._table.n_bytes
        decoder = codecs.getincrementaldecoder(self.encoding.value)("replace")
        with (self._spool or self.path).open("rb") as file:
            while left > 0 and (data := file.read(min(BLOCK_BYTES, left))):
                left -= len(data)
                if self.encoding is Encoding.UTF8:
                    yield data
                else:
                    yield decoder.decode(data).encode("utf-8", "replace")

    def close(self) -> None:
        """Delete the copy of a compressed log; no file is open between calls."""
        self._drop_spool()

    def _raw(self, edges: list[int]) -> list[bytes]:
        """Return the bytes between the edges.

        The file is opened each time: on Windows a log that is held open cannot be rotated.
        """
        with (self._spool or self.path).open("rb") as file:
            status = os.fstat(file.fileno())
            if self._spool is None and (status.st_dev, status.st_ino) != self._identity:
                return [b""] * (len(edges) - 1)  # another file is there now
            if edges[-1] - edges[0] <= _SPAN_BYTES:
                file.seek(edges[0])
                data = file.read(edges[-1] - edges[0])
                return [data[start - edges[0] : end - edges[0]] for start, end in pairwise(edges)]
            raw = []
            for start, end in pairwise(edges):
                file.seek(start)
                raw.append(file.read(min(end - start, _LINE_BYTES)))
            return raw

    def _show(self, raw: bytes, limit: int) -> str:
        text = raw[:_LINE_BYTES].decode(self.encoding.value, "replace")
        return show(text, limit)

    def _restart(self) -> None:
        self._table, self.note = _Table(), ""
        self._drop_spool()
        self._spool = None
        with self.path.open("rb") as file:
            head = file.read(4096)
        self.is_gzip = head.startswith(_GZIP)
        self.encoding = Encoding.UTF8 if self.is_gzip else detect(head)

    def _index(
        self,
        file: BinaryIO,
        size: int,
        cancel: Cancel | None,
        progress: Progress | None,
        sink: Sink | None,
    ) -> None:
        table, unit = self._table, self.encoding.unit
        decoder = codecs.getincrementaldecoder(self.encoding.value)("replace")
        while table.n_bytes < size:
            if cancel is not None:
                cancel.check()
            start = table.n_bytes
            data = file.read(min(BLOCK_BYTES, size - start) // unit * unit)
            if not data:
                break
            table.add(start, line_ends(data, self.encoding), len(data))
            if sink is not None:
                sink(data if unit == 1 else decoder.decode(data).encode("utf-8", "replace"))
            if progress is not None:
                progress(100 * table.n_bytes // size, "Reading the log")

    def _unpack(
        self,
        file: BinaryIO,
        size: int,
        cancel: Cancel | None,
        progress: Progress | None,
        sink: Sink | None,
    ) -> None:
        """Decompress into a temporary file, and index that."""
        handle, name = tempfile.mkstemp(suffix=".log")
        spool = Path(name)
        self._drop_spool = weakref.finalize(self, spool.unlink, missing_ok=True)
        self._spool = spool
        table, decoder = self._table, None
        with os.fdopen(handle, "wb", buffering=0) as out, gzip.open(file, "rb") as packed:
            while True:
                if cancel is not None:
                    cancel.check()
                try:
                    data = packed.read1(BLOCK_BYTES)  # what comes before damage is kept
                except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                    self.note = f"the compressed file is damaged or cut ({error})"
                    break
                if not data:
                    break
                if table.n_bytes > _MOST_UNPACKED:
                    self.note = "the compressed file holds more than 16 GiB; the rest is left out"
                    break
                if not table.n_bytes and (packed_as := detect(data[:4096])) is not Encoding.UTF8:
                    decoder = codecs.getincrementaldecoder(packed_as.value)("replace")
                if decoder is not None:  # the copy is UTF-8 whatever the log was
                    data = decoder.decode(data).encode("utf-8", "replace")
                out.write(data)
                table.add(table.n_bytes, line_ends(data, self.encoding), len(data))
                if sink is not None:
                    sink(data)
                if progress is not None:
                    progress(100 * file.tell() // max(1, size), "Unpacking the log")


def show(text: str, limit: int = MAX_CHARS) -> str:
    """Return a line as it is shown: no colours, no NULs, the last state of a progress line."""
    text = text.rstrip("\r\n")
    if "\r" in text:  # a terminal would show what was written last
        text = next((part for part in reversed(text.split("\r")) if part), "")
    text = plain(text.removeprefix("\ufeff"))
    return text if len(text) <= limit else text[: limit - 1] + "…"


def detect(head: bytes) -> Encoding:
    """Tell the encoding from a file's first bytes: by its mark, or by zero bytes in turn."""
    if head.startswith(codecs.BOM_UTF16_LE):
        return Encoding.UTF16_LE
    if head.startswith(codecs.BOM_UTF16_BE):
        return Encoding.UTF16_BE
    even, odd = head[0::2], head[1::2]
    if len(odd) >= 16:
        if odd.count(0) > 0.8 * len(odd) and even.count(0) < 0.1 * len(even):
            return Encoding.UTF16_LE
        if even.count(0) > 0.8 * len(even) and odd.count(0) < 0.1 * len(odd):
            return Encoding.UTF16_BE
    return Encoding.UTF8


def line_ends(data: bytes, encoding: Encoding) -> npt.NDArray[np.uint32]:
    """Return the offsets behind each line feed of a block."""
    if encoding is Encoding.UTF8:
        ends = np.flatnonzero(np.frombuffer(data, np.uint8) == 10) + 1
    else:
        order = "<u2" if encoding is Encoding.UTF16_LE else ">u2"
        ends = 2 * (np.flatnonzero(np.frombuffer(data, order) == 10) + 1)
    return ends.astype(np.uint32)


def _unreadable(path: Path, error: OSError) -> UserError:
    return UserError(
        f"The log {path.name} cannot be read",
        error.strerror or str(error),
        "Check that the file is still there and that you may read it",
    )
