"""Split mode row: a matrix's rows are divided among the devices; the rest stays with its layer.

Sources: make_gpu_buft_list in src/llama-model.cpp, get_row_split in ggml-sycl.cpp (build 11434)
and in ggml-cuda.cu before its removal. No row of the truth file is of this mode: not verified.
"""

from collections.abc import Sequence
from dataclasses import replace

from app.core import quants
from app.core.errors import UserError
from app.core.load import Placed
from app.core.machine import Device, DeviceKind
from app.core.request import SplitMode
from app.core.stow import Stowed
from app.core.weights import Op

_OF_CUDA = (DeviceKind.CUDA, DeviceKind.ROCM)  # ROCm is built from ggml-cuda
# PR 24216 of June 2026 removed it; b10524 refuses (issue 27465)
_LAST_WITH, _FIRST_WITHOUT = 9489, 10524
_PADDING = 512  # the last row of a part is filled up to a multiple of so many values
_ROUNDING, _WHOLE = 128, {"f32": 1, "f16": 1}
_SYCL_ROUNDING = {"q5_0": 64, "q5_1": 64, "q8_0": 64, "q6_K": 64, **_WHOLE}


def check(devices: Sequence[Device], mode: SplitMode, build: int | None) -> None:
    """Raise UserError where the build's CUDA and ROCm devices no longer split rows."""
    if mode is not SplitMode.ROW or _has_cuda_rows(build) is not False:
        return
    for device in devices:
        if device.kind in _OF_CUDA:
            raise UserError(
                f"Split mode row does not work on {device.id}",
                f"Build {build} refuses the load: its CUDA and ROCm devices do not support split "
                "buffers (removed in June 2026).",
                "Use split mode layer.",
            )


def spread(load: Placed) -> tuple[Stowed, ...]:
    """Return the weights with matrices cut into the devices' parts, as they lie in memory."""
    if load.request.split_mode is not SplitMode.ROW or not load.devices:
        return load.stowed
    bounds = _bounds(load)
    parts: list[Stowed] = []
    for entry in load.stowed:
        parts += _cut(entry, bounds, load.devices) or (entry,)
    return tuple(parts)


def said(load: Placed, build: int | None) -> tuple[str, ...]:
    """Return what to know of the figures in this mode."""
    if load.request.split_mode is not SplitMode.ROW or not load.devices:
        return ()
    texts = ["Split mode row follows llama.cpp's source and is not verified; its speed is not "
             "calculated, the shares are those of split mode layer."]  # fmt: skip
    if _has_cuda_rows(build) is None and any(d.kind in _OF_CUDA for d in load.devices):
        texts.append("llama.cpp of June 2026 and later refuses split mode row on CUDA and ROCm.")
    return tuple(texts)


def _has_cuda_rows(build: int | None) -> bool | None:
    if build is None or _LAST_WITH < build < _FIRST_WITHOUT:
        return None
    return build <= _LAST_WITH


def _cut(entry: Stowed, bounds: Sequence[float], devices: Sequence[Device]) -> tuple[Stowed, ...]:
    weight, home = entry.weight, entry.device
    # experts and other stacks of matrices go to no split buffer (PR 13919), nor does what is on
    # the host or shared with the embedding
    if home is None or weight.op is not Op.MUL_MAT or not entry.n_bytes:
        return ()
    columns, rows, *stacks = weight.shape
    if stacks:
        return ()
    row = quants.row_bytes(weight.type_name, columns)
    rest = columns % _PADDING
    pad = quants.row_bytes(weight.type_name, _PADDING - rest) if rest else 0
    rounding = _rounding(weight.type_name, devices[home].kind)
    starts = [int(rows * bound) for bound in bounds]
    starts = [start - start % rounding for start in starts]
    counts = [end - start for start, end in zip(starts, [*starts[1:], rows], strict=True)]
    if not counts[home]:
        return ()  # where the layer's device would hold no row, the matrix stays whole
    return tuple(
        replace(entry, buffer=device.id, device=d, n_bytes=count * row + pad)
        for d, (device, count) in enumerate(zip(devices, counts, strict=True))
        if count
    )


def _rounding(type_name: str, kind: DeviceKind) -> int:
    if kind in _OF_CUDA:
        return _ROUNDING
    return _SYCL_ROUNDING.get(type_name, _ROUNDING)


def _bounds(load: Placed) -> tuple[float, ...]:
    """Return where each device's part begins: as --tensor-split says, else by total memory."""
    given = load.request.tensor_split
    sizes = [given[d] if d < len(given) else 0.0 for d in range(len(load.devices))]
    if not any(sizes):
        sizes = [float(device.total_bytes or 1) for device in load.devices]
    total = sum(sizes)
    return tuple(sum(sizes[:d]) / total for d in range(len(sizes)))
