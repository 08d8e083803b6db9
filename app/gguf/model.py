"""Makes a Model of a GGUF file: joins split files and says what is missing."""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

from app.core import units
from app.core.cancel import Cancel
from app.core.errors import UserError
from app.core.model import Fault, KeyValue, Model, ModelProblem, Part, Tensor
from app.gguf.header import Header, read_header

MAX_PARTS = 1024
_NAMED_PARTS = 3  # missing files that a message names before it counts the rest

# llama_split_path, llama.cpp src/llama.cpp, build 11434
_SPLIT_NAME = re.compile(r"(?P<prefix>.+)-(?P<no>\d{5})-of-(?P<count>\d{5})(?P<end>\.gguf)", re.I)


@dataclass(frozen=True, slots=True)
class _Split:
    """Which part of how many a file is, by its keys; no counts from 0."""

    no: int
    count: int
    n_tensors: int | None


def read_model(path: str | Path, cancel: Cancel | None = None) -> Model:
    """Read the headers of a model's files; a UserError says what is wrong and what to do."""
    first = Path(path)
    header = read_header(first, cancel=cancel)
    split = _split_of(header)
    if split is not None and split.no > 0:
        first, header = _first_part(first, split, cancel)
        split = _split_of(header)
    arch = header.keys.get("general.architecture")
    if not isinstance(arch, str) or not arch:
        raise UserError(
            f"{first.name} does not say which architecture it has",
            "The key general.architecture is missing, so no program can load the file.",
            "Get the file again, or another GGUF of the same model.",
        )
    headers = [(first, header)]
    problems: list[ModelProblem] = []
    if split is not None:
        more, problems = _other_parts(first, split, cancel)
        headers += more
    tensors = _joined(headers)
    if split is not None and not problems and split.n_tensors not in (None, len(tensors)):
        raise UserError(
            f"The parts of {first.name} do not belong together",
            f"They hold {len(tensors):,} tensors; the first part says {split.n_tensors:,}.",
            "Download all parts of one and the same model again.",
        )
    problems += [p for path_, header_ in headers if (p := _cut_data(path_, header_)) is not None]
    if header.is_big_endian != (sys.byteorder == "big"):
        problems.append(_wrong_byte_order(first, header))
    return Model(
        name=first.name,
        arch=arch,
        version=header.version,
        is_big_endian=header.is_big_endian,
        keys=header.keys,
        tensors=tensors,
        parts=tuple(Part(str(p), h.file_bytes, h.data_offset, h.alignment) for p, h in headers),
        problems=tuple(problems),
    )


def _split_of(header: Header) -> _Split | None:
    """Return which part a file is, None when it is a whole model."""
    count = _whole(header.keys.get("split.count"))
    if count is None or count < 2:
        return None
    no = _whole(header.keys.get("split.no"))
    return _Split(no or 0, count, _whole(header.keys.get("split.tensors.count")))


def _whole(value: KeyValue | None) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _part_path(path: Path, split: _Split, no: int) -> Path | None:
    """Return the path of another part, None when the file's own name does not tell it."""
    match = _SPLIT_NAME.fullmatch(path.name)
    if match is None or (int(match["no"]), int(match["count"])) != (split.no + 1, split.count):
        return None
    return path.with_name(f"{match['prefix']}-{no + 1:05d}-of-{split.count:05d}{match['end']}")


def _first_part(path: Path, split: _Split, cancel: Cancel | None) -> tuple[Path, Header]:
    """Find and read the first part of the set that the given file belongs to."""
    first = _part_path(path, split, 0)
    what = f"{path.name} is part {split.no + 1} of {split.count} of a model"
    if first is None:
        raise UserError(
            f"{what}, but it was renamed",
            "Parts find each other by their names:"
            f" NAME-{split.no + 1:05d}-of-{split.count:05d}.gguf.",
            "Give the parts their names back and open the first one.",
        )
    if not first.is_file():
        raise UserError(
            f"{what}, and the first part is missing",
            f"{first.name} is not in the same folder; it says what the model is.",
            f"Download {first.name} into the same folder.",
        )
    header = read_header(first, cancel=cancel)
    found = _split_of(header)
    if found is None or (found.no, found.count) != (0, split.count):
        raise UserError(
            f"{what}, but {first.name} is of another model",
            "Its split.no and split.count keys do not fit.",
            "Download all parts of one and the same model again.",
        )
    return first, header


def _other_parts(
    first: Path, split: _Split, cancel: Cancel | None
) -> tuple[list[tuple[Path, Header]], list[ModelProblem]]:
    """Read parts 2 to count; a part that is missing or unreadable becomes a problem."""
    if split.count > MAX_PARTS:
        raise UserError(
            f"The header of {first.name} is damaged",
            f"Key split.count says {split.count:,} parts; at most {MAX_PARTS:,} make sense.",
            "Download the file again.",
        )
    headers: list[tuple[Path, Header]] = []
    missing: list[str] = []
    problems: list[ModelProblem] = []
    for no in range(1, split.count):
        path = _part_path(first, split, no)
        if path is None:
            problems.append(_renamed(first, split))
            break
        if not path.is_file():
            missing.append(path.name)
            continue
        try:
            header = read_header(path, part=len(headers) + 1, cancel=cancel)
        except UserError as error:
            problems.append(ModelProblem(Fault.PART_MISSING, error.sentence()))
            continue
        found = _split_of(header)
        if found is None or (found.no, found.count) != (no, split.count):
            text = f"{path.name} is not part {no + 1} of {split.count}, as its name says."
            problems.append(ModelProblem(Fault.PART_MISSING, text))
            continue
        headers.append((path, header))
    if missing:
        problems.insert(0, _missing(missing, split))
    return headers, problems


def _missing(names: list[str], split: _Split) -> ModelProblem:
    listed = ", ".join(names[:_NAMED_PARTS])
    if len(names) > _NAMED_PARTS:
        listed += f" and {len(names) - _NAMED_PARTS} more"
    text = (
        f"{len(names)} of {split.count} parts of the model are missing: {listed}."
        " Download them into the same folder; until then all figures count only what is there."
    )
    return ModelProblem(Fault.PART_MISSING, text)


def _renamed(first: Path, split: _Split) -> ModelProblem:
    text = (
        f"{first.name} is the first of {split.count} parts, but it was renamed, so the others"
        f" cannot be found. Parts are named NAME-00001-of-{split.count:05d}.gguf, with one NAME."
    )
    return ModelProblem(Fault.PART_MISSING, text)


def _joined(headers: list[tuple[Path, Header]]) -> tuple[Tensor, ...]:
    """Return the tensors of all parts; a tensor must not be in two of them."""
    tensors = tuple(tensor for _, header in headers for tensor in header.tensors)
    owner: dict[str, int] = {}
    for tensor in tensors:
        if tensor.name in owner:
            raise UserError(
                f"The parts of {headers[0][0].name} do not belong together",
                f"Tensor {tensor.name} is in {headers[owner[tensor.name]][0].name}"
                f" and in {headers[tensor.part][0].name}.",
                "Download all parts of one and the same model again.",
            )
        owner[tensor.name] = tensor.part
    return tensors


def _cut_data(path: Path, header: Header) -> ModelProblem | None:
    """Say how many bytes are missing after the header, None when the data is complete."""
    there = header.file_bytes - header.data_offset
    lost = next((t for t in header.tensors if t.offset + t.n_bytes > there), None)
    if lost is None:
        return None
    last = header.tensors[-1]
    whole_bytes = header.data_offset + last.offset + last.n_bytes
    missing_bytes = whole_bytes - header.file_bytes
    text = (
        f"{path.name} is incomplete: {missing_bytes:,} of {whole_bytes:,} bytes"
        f" ({units.size(missing_bytes)}) are missing, from tensor {lost.name} on."
        " No runtime will load it; resume or repeat the download."
    )
    return ModelProblem(Fault.TRUNCATED_DATA, text, missing_bytes, lost.name)


def _wrong_byte_order(path: Path, header: Header) -> ModelProblem:
    order = "big-endian" if header.is_big_endian else "little-endian"
    text = f"{path.name} is made for {order} computers; llama.cpp will not load it on this one."
    return ModelProblem(Fault.WRONG_BYTE_ORDER, text)
