"""What llama.cpp chooses by itself: first a shorter context, then fewer layers (--fit).

The decisions of common_params_fit_impl in common/fit.cpp, build 11434, on the bytes that
core.placement calculates. Every measurement there is a whole dry load; here it is one place().
The result is llama.cpp's own unless compute buffers are off by more than the room that is left.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from app.core import cache, fit_layers
from app.core.assign import usable_devices
from app.core.beside import Companion, Kind, projector_bytes
from app.core.fit_layers import Layers
from app.core.fit_result import FitResult, Meter, Step, Used
from app.core.machine import Device, Host
from app.core.placement import Prepared
from app.core.request import NGL_AUTO, LoadRequest, SplitMode, Tool, targets_mib
from app.core.shape import UNDERIVED_CACHES
from app.core.units import MIB

DEFAULT_CTX = 4096
_ALIGN = 256
_LAST_WITHOUT_FIT = 7394  # a release of 2025-12-14; PR 16653 was merged on the day after
# In 11434 each slot of a cache that is not unified gets the training context, in this one not
_LAST_WITHOUT_STREAMS = 10434
# about: pull request 21489 is of 5 April 2026, b8672 of that month has it
_FIRST_WITH_PROJECTOR = 8660
_MAX_U32 = 0xFFFFFFFF


def fit(
    prepared: Prepared,
    devices: tuple[Device, ...],
    host: Host,
    request: LoadRequest,
    build: int | None = None,
    *,
    companions: Sequence[Companion] = (),
) -> FitResult:
    """Return what the program would load; UserError for a request that it refuses anyway.

    llama-server counts a draft in every measurement (common_fit_extra_model) and adds a
    projector to the margin of its device (server-context.cpp, both build 11434).
    """
    shape = prepared.shape
    asked = cache.context_of(shape, request)
    ctx = request.ctx or asked.n_ctx
    empty = FitResult(request=request, ctx=ctx, layers_total=shape.layers_total)
    if request.tool is Tool.BENCH and not request.has_fit_target:
        return replace(
            empty, not_calculated="llama-bench loads what it is told; it fits only with -fitt."
        )
    if build is not None and build <= _LAST_WITHOUT_FIT:
        return replace(
            empty, not_calculated=f"Build {build} has no --fit; it came in December 2025."
        )
    if shape.arch in UNDERIVED_CACHES:
        return replace(
            empty,
            not_calculated=f"The context memory of {shape.arch} models is not derived from the "
            "header; ask llama-fit-params.",
        )
    drafts = tuple(one.model for one in companions if one.kind is Kind.DRAFT)
    meter = Meter(prepared, devices, host, build, request, drafts)
    chosen = usable_devices(devices, request)
    if not chosen and host.total_bytes is None:
        return replace(empty, not_calculated="The total system memory is not known.")
    is_counted = build is None or build >= _FIRST_WITH_PROJECTOR
    projectors = projector_bytes(companions, devices, request) if is_counted else {}
    return _Fit(meter, chosen, host, request, empty, projectors).result()


@dataclass(frozen=True, slots=True)
class _Room:
    """What the first measurement says: bytes in all, and what would be left."""

    used: Used
    free: tuple[int, ...]  # of each device; the host's total when there is none
    targets: tuple[int, ...]

    @property
    def left(self) -> tuple[int, ...]:
        """Return what each device (or the host) would keep free."""
        return tuple(a - b for a, b in zip(self.free, self.used.parts, strict=True))

    @property
    def surplus(self) -> int:
        """Return what is left over the targets, in all."""
        return sum(self.left) - sum(self.targets)

    @property
    def is_enough(self) -> bool:
        """Tell whether each device (or the host) meets its target."""
        return all(left >= target for left, target in zip(self.left, self.targets, strict=True))


@dataclass(frozen=True, slots=True)
class _Fit:
    """One run of the decisions."""

    meter: Meter
    devices: tuple[Device, ...]
    host: Host
    request: LoadRequest
    empty: FitResult
    projectors: Mapping[str, int]  # bytes by device

    def result(self) -> FitResult:
        """Decide: nothing to do, a shorter context, fewer layers, or refuse."""
        request = self.request
        is_auto = not request.ctx
        n_max = self._n_max() if is_auto else self.empty.ctx
        full = replace(request, ctx=n_max)
        room = _Room(self.meter.measure(full), self._free(), self._targets())
        steps = [self._first_step(room)]
        result = replace(self.empty, ctx=n_max)
        if room.is_enough:
            return replace(result, request=full, steps=(*steps, self._enough(room), _success()))
        if room.surplus < 0:
            steps.append(_short_step(room))
            if is_auto:
                full, is_done, step = self._reduced(full, room)
                steps.append(step)
                result = replace(result, ctx=full.ctx or n_max, request=full)
                if is_done:
                    steps.append(_whole_step())
                    return replace(result, steps=(*steps, _success()))
            else:
                steps.append(
                    Step(
                        f"The context of {n_max} was asked for, so it stays.",
                        f"context size set by user to {n_max} -> no change",
                    )
                )
        refused = self._refusal()
        result = replace(result, request=full)
        if refused:
            return replace(result, refused=refused, steps=(*steps, _failure(refused)))
        layers = fit_layers.fill(self.meter, self.devices, full, room.free, room.targets)
        return replace(
            result,
            request=layers.request,
            ngl=layers.request.ngl,
            tensor_split=layers.request.tensor_split,
            overrides=layers.request.overrides,
            steps=(*steps, *layers.steps, self._end(layers, room)),
        )

    def _end(self, layers: Layers, room: _Room) -> Step:
        """Say whether the load that was found has room; llama.cpp calls it a success anyway."""
        short = [
            f"{device.id} takes {_mib(used)} and {_mib(free)} are free"
            for device, used, free in zip(self.devices, layers.used, room.free, strict=True)
            if used > free
        ]
        if not short and layers.request.ngl:
            return _success()
        if not short:
            return Step(
                "Not one layer has room on a device: the load starts in system memory alone.",
                _success().log_line,
            )
        return Step(
            f"llama.cpp calls this a success and starts the load, but it does not fit: "
            f"{'; '.join(short)}. Use no device (-dev none), or free memory first.",
            _success().log_line,
        )

    def _streams(self) -> int:
        if self.meter.build is not None and self.meter.build <= _LAST_WITHOUT_STREAMS:
            return 1
        return cache.context_of(self.meter.prepared.shape, self.request).streams

    def _n_max(self) -> int:
        trained = self.meter.prepared.shape.n_ctx_train
        return min(trained * self._streams(), _MAX_U32)

    def _n_min(self) -> int:
        if self.request.ctx == 0:
            return _MAX_U32  # -c 0: the full context was asked for
        return min((self.request.fit_ctx or DEFAULT_CTX) * self._streams(), _MAX_U32)

    def _targets(self) -> tuple[int, ...]:
        targets = [mib * MIB for mib in targets_mib(self.request, len(self.devices))]
        for i, device in enumerate(self.devices):
            targets[i] += self.projectors.get(device.id, 0)
        return tuple(targets)

    def _free(self) -> tuple[int, ...]:
        if not self.devices:
            return (self.host.total_bytes or 0,)  # the total, not what is free
        # a device that reports no memory gets nothing (common_get_device_memory_data_impl)
        return tuple(device.free_bytes or 0 for device in self.devices)

    def _first_step(self, room: _Room) -> Step:
        used, free = sum(room.used.parts), sum(room.free)
        if not self.devices:
            line = (
                f"projected to use {used // MIB} MiB of host memory vs. {free // MIB} MiB of "
                "total host memory"
            )
            return Step(f"The load takes {_mib(used)} of {_mib(free)} system memory.", line)
        line = (
            f"projected to use {used // MIB} MiB of device memory vs. {free // MIB} MiB of "
            "free device memory"
        )
        return Step(f"The load takes {_mib(used)} of {_mib(free)} free device memory.", line)

    def _enough(self, room: _Room) -> Step:
        left = sum(room.left)
        if len(self.devices) > 1:
            return Step(
                f"Each device keeps at least {_targets(room)} free: nothing to change.",
                "targets for free memory can be met on all devices, no changes needed",
            )
        where = "free device" if self.devices else "system"
        return Step(
            f"{_mib(left)} stay free, at least {_targets(room)} should: nothing to change.",
            f"will leave {left // MIB} >= {room.targets[0] // MIB} MiB of {where} memory, "
            "no changes needed",
        )

    def _reduced(self, full: LoadRequest, room: _Room) -> tuple[LoadRequest, bool, Step]:
        """Return the request with a shorter context, and whether that is all it takes."""
        n_max, n_min = full.ctx or 0, self._n_min()
        if n_max <= n_min:
            return full, False, _unchanged_step(n_max, n_min)
        budget = sum(room.free) - sum(room.targets)
        if len(self.devices) > 1:
            budget -= self._waste(room)
        shortest = replace(full, ctx=n_min)
        used, least = sum(room.used.parts), sum(self.meter.measure(shortest).parts)
        if budget <= least:
            return shortest, False, _reduced_step(n_max, n_min, used - least)
        ctx = n_min + (n_max - n_min) * (budget - least) // (used - least)
        ctx = max(ctx - ctx % (_ALIGN * self._streams()), n_min)
        saved = (n_max - ctx) * ((used - least) // (n_max - n_min))
        step = _reduced_step(n_max, ctx, saved)
        return replace(full, ctx=ctx), len(self.devices) <= 1, step

    def _waste(self, room: _Room) -> int:
        """Return what several devices leave unused, as llama.cpp expects it."""
        shape = self.meter.prepared.shape
        given = self.request.ngl
        layers = shape.n_layer if given is None or given < 0 else min(given, shape.n_layer)
        per_layer = room.used.weights // max(layers, 1)
        return (len(self.devices) + 1) * per_layer // (6 if shape.n_expert else 2)

    def _refusal(self) -> str:
        request = self.request
        if not self.devices:
            return "was unable to fit model into system memory by reducing context, abort"
        if request.ngl is not None and request.ngl != NGL_AUTO:
            return f"n_gpu_layers already set by user to {request.ngl}, abort"
        if len(self.devices) > 1:
            if any(request.tensor_split):
                return "model_params::tensor_split already set by user, abort"
            if request.split_mode is SplitMode.ROW:
                return "changing weight allocation for LLAMA_SPLIT_MODE_ROW not implemented, abort"
        if request.has_override:
            return "model_params::tensor_buft_overrides already set by user, abort"
        return ""


def _short_step(room: _Room) -> Step:
    missing = -room.surplus
    if len(room.free) == 1:
        line = (
            f"cannot meet free memory target of {room.targets[0] // MIB} MiB, need to reduce "
            f"device memory by {missing // MIB} MiB"
        )
        text = f"{_targets(room)} must stay free; {_mib(missing)} too much is used."
        return Step(text, line)
    line = (
        "cannot meet free memory targets on all devices, need to use "
        f"{missing // MIB} MiB less in total"
    )
    text = f"{_targets(room)} must stay free on each device; {_mib(missing)} too much is used."
    return Step(text, line)


def _unchanged_step(n_max: int, n_min: int) -> Step:
    if n_min == _MAX_U32:
        return Step(
            f"The full context of {n_max} was asked for, so it stays.",
            f"user has requested full context size of {n_max} -> no change",
        )
    return Step(
        f"The model's context of {n_max} is not above the smallest, {n_min}, so it stays.",
        f"default model context size is {n_max} which is <= the min. context size of {n_min} "
        "-> no change",
    )


def _reduced_step(before: int, after: int, saved: int) -> Step:
    return Step(
        f"The context goes from {before} to {after}, which saves {_mib(saved)}.",
        f"context size reduced from {before} to {after} -> need {saved // MIB} MiB less memory "
        "in total",
    )


def _whole_step() -> Step:
    return Step(
        "All layers fit with the shorter context.", "entire model can be fit by reducing context"
    )


def _success() -> Step:
    return Step("The load starts like this.", "successfully fit params to free device memory")


def _failure(reason: str) -> Step:
    return Step(
        "llama.cpp gives up and loads what was asked, with the context it may have shortened.",
        f"failed to fit params to free device memory: {reason}",
    )


def _targets(room: _Room) -> str:
    """Return the targets in words, one for all when they are the same."""
    return " and ".join(_mib(target) for target in dict.fromkeys(room.targets))


def _mib(n_bytes: int) -> str:
    return f"{n_bytes // MIB:,} MiB"
