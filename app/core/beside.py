"""Files that are loaded beside a model: a vision projector and a draft model.

The draft is a second model with its own context: the same slots and cells, f16 caches, all layers
offloaded as the defaults of its own options say (common_base_params_to_speculative, build 11434).
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import Enum

from app.core import placement, projector
from app.core.assign import usable_devices
from app.core.errors import UserError
from app.core.machine import Device, DeviceKind, Host
from app.core.model import Model
from app.core.placement import HOST_ROW, Placement, Row
from app.core.request import LoadRequest


class Kind(Enum):
    """What a file beside the model is."""

    PROJECTOR = "projector"
    DRAFT = "draft"


@dataclass(frozen=True, slots=True)
class Companion:
    """A file that is to be loaded beside the model."""

    kind: Kind
    model: Model
    is_offloaded: bool = True  # False: --no-mmproj-offload


@dataclass(frozen=True, slots=True)
class Beside:
    """What a companion takes, in rows like the model's."""

    kind: Kind
    name: str
    rows: tuple[Row, ...]
    is_verified: bool  # compared with real loads
    note: str

    def high_bytes(self, buffer: str) -> int:
        """Return what it takes of a buffer at the top of its range."""
        return sum(row.high_bytes for row in self.rows if row.buffer == buffer)


def beside(
    companions: Sequence[Companion],
    placed: Placement,
    devices: tuple[Device, ...],
    host: Host,
    request: LoadRequest,
    *,
    build: int | None,
) -> tuple[Beside, ...]:
    """Place each companion of a placed model; UserError for a file that is none."""
    chosen = usable_devices(devices, request)
    found = []
    for one in companions:
        if one.kind is Kind.DRAFT:
            found.append(_draft(one.model, placed, devices, host, request, build))
        else:
            found.append(_projector(one, chosen))
    return tuple(found)


def with_files(request: LoadRequest, companions: Sequence[Companion]) -> LoadRequest:
    """Return the request that names the files beside the model, for the words of a runtime."""
    for one in companions:
        if one.kind is Kind.DRAFT:
            path, kind = one.model.path, _draft_type(one.model)
            request = replace(request, draft_path=path, draft_type=kind)
        else:
            request = replace(
                request, projector_path=one.model.path, projector_offload=one.is_offloaded
            )
    return request


def draft_load(
    model: Model, n_ctx: int, devices: tuple[Device, ...], host: Host, request: LoadRequest,
    *, build: int | None, dry_pass: bool = False,
) -> Placement:  # fmt: skip
    """Place a draft beside a load of n_ctx tokens; UserError when it cannot be."""
    own = replace(
        request, ctx=n_ctx, ngl=None, cache_type_k="f16", cache_type_v="f16",
        overrides=(), cpu_moe=False, n_cpu_moe=0, n_cpu_ffn=0, projector_path="",
        draft_path="", draft_type="",
    )  # fmt: skip
    return placement.place(
        placement.prepare(model), devices, host, own, dry_pass=dry_pass, build=build
    )


def placeable(
    companions: Sequence[Companion],
    placed: Placement,
    devices: tuple[Device, ...],
    host: Host,
    request: LoadRequest,
    *,
    build: int | None,
) -> tuple[Companion, ...]:
    """Return the companions that can be placed; llama.cpp too goes on without the others."""
    found = []
    for one in companions:
        with suppress(UserError):
            beside((one,), placed, devices, host, request, build=build)
            found.append(one)
    return tuple(found)


def _draft_type(model: Model) -> str:
    """Return what --spec-type has to say; "" where llama.cpp infers it from the header.

    common_speculative_types_from_gguf, build 11434: MTP by its tensor, dflash and dspark by the
    architecture. Without a type a draft is loaded and then never asked.
    """
    if model.arch == "eagle3":
        return "draft-eagle3"
    is_inferred = model.arch == "dflash" or any(
        tensor.name.endswith(".nextn.eh_proj.weight") for tensor in model.tensors
    )
    return "" if is_inferred else "draft-simple"


def _draft(  # noqa: PLR0917 - the terms of a load
    model: Model, placed: Placement, devices: tuple[Device, ...], host: Host,
    request: LoadRequest, build: int | None,
) -> Beside:  # fmt: skip
    found = draft_load(model, placed.context.n_ctx, devices, host, request, build=build)
    logits = f"; its logits take {found.output_bytes:,} bytes of system memory more"
    note = f"context {found.context.n_ctx:,} with f16 caches, all layers offloaded{logits}"
    return Beside(Kind.DRAFT, model.name, found.rows, is_verified=True, note=note)


def projector_bytes(
    companions: Sequence[Companion], devices: tuple[Device, ...], request: LoadRequest
) -> Mapping[str, int]:
    """Return what projectors take of each device's memory, in bytes by its name."""
    chosen = usable_devices(devices, request)
    rows = [_projector(one, chosen).rows[0] for one in companions if one.kind is Kind.PROJECTOR]
    return {row.buffer: row.total_bytes for row in rows if not row.is_host}


def _projector(one: Companion, devices: tuple[Device, ...]) -> Beside:
    model = one.model
    projector.check(model)
    # RPC devices count as GPUs, but come after this computer's own
    local = [device for device in devices if device.kind is not DeviceKind.RPC]
    first = next(iter((*local, *devices)), None)
    on_device = first is not None and one.is_offloaded
    compute = projector.compute_span(model)
    note = "from llama.cpp's source, not verified"
    if compute is None:
        note += "; its compute buffer is not calculated"
    row = Row(
        buffer=first.id if first is not None and on_device else HOST_ROW,
        is_host=not on_device,
        weights_bytes=projector.weights_bytes(model),
        context_bytes=0,
        compute_bytes=compute.n_bytes if compute else 0,
        compute_low_bytes=compute.low if compute else 0,
        compute_high_bytes=compute.high if compute else 0,
    )
    return Beside(Kind.PROJECTOR, model.name, (row,), is_verified=False, note=note)
