"""The compute buffers of a load: by its graph where that is known, else by closed forms."""

from app.core import weights
from app.core.compute import Case, Copies, compute_of
from app.core.compute_graph import by_graph
from app.core.load import Placed
from app.core.machine import DeviceKind
from app.core.scratch import SINCE, scratch_bytes
from app.core.spans import Compute
from app.core.weights import Op, Place


def compute_of_load(load: Placed, build: int | None, *, is_dry: bool) -> Compute:
    """Return the compute buffers; is_dry: as --fit and llama-fit-params measure them."""
    exact = by_graph(load, build, is_dry=is_dry)
    if exact is not None:
        return exact
    return compute_of(
        load.shape,
        load.context,
        load.caches,
        load.request,
        case=_case(load),
        layers=tuple(load.homes.count(d) for d in range(len(load.devices))),
        copies=copies_of(load),
        is_ragged=_is_ragged(load),
        scratch={
            SINCE[device.kind]: scratch_bytes(device.kind, load.shape, load.caches, load.request)
            for device in load.devices
            if device.kind in SINCE
        },
        build=build,
    )


def copies_of(load: Placed) -> Copies | None:
    """Return what the first local GPU copies of the host's weights, None when nothing is."""
    local = (d for d, device in enumerate(load.devices) if device.kind is not DeviceKind.RPC)
    device = next(local, None)
    if device is None or not load.request.op_offload:
        return None
    used = max(load.shape.n_expert_used, 1)
    block = output = 0
    for entry in load.stowed:
        weight = entry.weight
        if (
            entry.device is not None
            or weight.op not in (Op.MUL_MAT, Op.MUL_MAT_ID)
            # only what lies in a plain host buffer is copied (ggml_backend_sched, build 11434)
            or entry.buffer in (weights.CPU_REPACK, weights.AMX)
            or weight.n_bytes <= (output if weight.place is Place.OUTPUT else block)
            or not weights.fits_device(weight, load.devices[device], used)
        ):
            continue
        if weight.place is Place.OUTPUT:
            output = weight.n_bytes
        else:
            block = weight.n_bytes
    if not (block or output):
        return None
    pairs = zip(load.homes, load.context_bytes, strict=False)
    hosted = [n for home, n in pairs if home is None or not load.request.kv_offload]
    return Copies(device, block, output, max(hosted, default=0))


def _is_ragged(load: Placed) -> bool:
    """Tell whether a block on a device has matrices on the host."""
    return any(
        entry.device is None
        and entry.weight.place is Place.BLOCK
        and entry.weight.op in (Op.MUL_MAT, Op.MUL_MAT_ID)
        and load.homes[entry.weight.block] is not None
        for entry in load.stowed
    )


def _case(load: Placed) -> Case:
    on_device = sum(home is not None for home in load.homes)
    if not on_device:
        return Case.HOST_ONLY
    is_all = on_device == len(load.homes)
    if len(load.devices) == 1:
        return Case.ONE_ALL if is_all else Case.ONE_PART
    return Case.MANY_ALL if is_all else Case.MANY_PART
