"""The second half of --fit: layers to devices, and for MoE models experts to the host.

Steps 3 and 4 of common_params_fit_impl in common/fit.cpp, build 11434: devices are filled from the
last one and the output layer backward by false position, MoE models without their experts first;
then, from the first device on, experts come back while they fit.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum

from app.core.fit_result import Meter, Step
from app.core.machine import Device
from app.core.request import LoadRequest
from app.core.units import MIB
from app.core.weights import CPU

_ALL_EXPERTS = r"blk\.\d+\.ffn_(up|down|gate_up|gate)_(ch|)exps"


class _Kept(Enum):
    """What of the first partial layer stays; the value is the pattern of what leaves."""

    ATTENTION = r"\.ffn_(gate|up|gate_up|down).*"
    UP = r"\.ffn_(gate|gate_up|down).*"
    UP_AND_GATE = r"\.ffn_down.*"
    DENSE = r"\.ffn_(up|down|gate_up|gate)_(ch|)exps"


@dataclass(frozen=True, slots=True)
class _Share:
    """The layers of one device; the first n_part after the whole ones lack their experts."""

    n_layer: int = 0
    n_part: int = 0
    kept: _Kept = _Kept.DENSE

    @property
    def n_full(self) -> int:
        """Return the layers that are there with their experts."""
        return self.n_layer - self.n_part


@dataclass(frozen=True, slots=True)
class _Plan:
    """Shares of all devices with the memory they take."""

    shares: tuple[_Share, ...]
    overflow: tuple[str, ...]  # where the first partial layer of a device overflows to
    memory: tuple[int, ...]
    dense_start: int  # the first device that still has partial layers


@dataclass(frozen=True, slots=True)
class Layers:
    """The request with layers, split and overrides set."""

    request: LoadRequest
    steps: tuple[Step, ...]
    used: tuple[int, ...]  # bytes on each device


def fill(
    meter: Meter,
    devices: tuple[Device, ...],
    request: LoadRequest,
    free: tuple[int, ...],
    targets: tuple[int, ...],
) -> Layers:
    """Fill the devices; the request has no layers, split or overrides of its own."""
    return _Filling(meter, devices, request, free, targets).layers()


@dataclass(frozen=True, slots=True)
class _Filling:
    """One run."""

    meter: Meter
    devices: tuple[Device, ...]
    request: LoadRequest
    free: tuple[int, ...]
    targets: tuple[int, ...]

    def layers(self) -> Layers:
        """Fill dense layers, then bring experts back if the dense part leaves room."""
        n = len(self.devices)
        room = self._room_without_experts()
        steps = []
        if room is not None:
            steps.append(_room_step(room))
        plan = self._measured((_Share(),) * n, (CPU,) * n, n - 1)
        for d in reversed(range(n)):
            plan = self._fill_dense(plan, d)
        if room is None or room <= 0:
            steps += self._device_steps(plan)
            return Layers(self._request(plan.shares, plan.overflow), tuple(steps), plan.memory)
        plan = replace(plan, dense_start=_dense_start(plan.shares))
        d = 0
        while d <= plan.dense_start < n:
            plan = self._bring_back(plan, d)
            plan = self._fill_part(plan, d)
            d += 1
        steps += self._device_steps(plan)
        return Layers(self._request(plan.shares, plan.overflow), tuple(steps), plan.memory)

    @property
    def _is_moe(self) -> bool:
        return self.meter.prepared.shape.n_expert > 0

    @property
    def _n_layers(self) -> int:
        # MTP blocks are not counted here, though the loader counts them (placement.md 4.4)
        return self.meter.prepared.shape.n_layer + 1

    def _limit(self, d: int) -> int:
        return self.free[d] - self.targets[d]

    def _room_without_experts(self) -> int | None:
        """Return the bytes left over all targets with every expert on the host; None if dense."""
        if not self._is_moe:
            return None
        used = self.meter.measure(replace(self.request, overrides=((_ALL_EXPERTS, CPU),)))
        return sum(self.free) - sum(used.parts) - sum(self.targets)

    def _request(self, shares: tuple[_Share, ...], overflow: tuple[str, ...]) -> LoadRequest:
        """Return the request that makes llama.cpp load these shares."""
        ngl = sum(share.n_layer for share in shares)
        first = self._n_layers - ngl
        overrides: list[tuple[str, str]] = []
        for share, buffer in zip(shares, overflow, strict=True):
            first += share.n_full
            for i in range(first, first + share.n_part):
                kept = share.kept if i == first else _Kept.DENSE
                overrides.append((rf"blk\.{i}{kept.value}", buffer if i == first else CPU))
            first += share.n_part
        split = tuple(float(share.n_layer) for share in shares) if len(shares) > 1 else ()
        return replace(self.request, ngl=ngl, tensor_split=split, overrides=tuple(overrides))

    def _measured(
        self, shares: tuple[_Share, ...], overflow: tuple[str, ...], dense_start: int
    ) -> _Plan:
        used = self.meter.measure(self._request(shares, overflow))
        return _Plan(shares, overflow, used.parts, dense_start)

    def _fill_dense(self, low: _Plan, d: int) -> _Plan:
        """Give a device as many layers as it takes, without experts in MoE models."""
        last = len(self.devices) - 1
        left = self._n_layers - sum(share.n_layer for share in low.shares[d + 1 :])

        def grown(plan: _Plan, step: int) -> _Plan:
            share = plan.shares[d]
            more = step
            if d == last and share.n_part == 0:
                more -= 1  # the output layer comes first, and is always whole
            n_part = share.n_part + more if self._is_moe else 0
            bigger = _Share(share.n_layer + step, n_part)
            return self._measured(_with(plan.shares, d, bigger), plan.overflow, plan.dense_start)

        if left <= 0:
            return low
        high = grown(replace(low, shares=_with(low.shares, d, _Share())), left)
        if high.memory[d] <= self._limit(d):
            return high
        return self._narrowed(low, high, d, lambda plan: plan.shares[d].n_layer, grown)

    def _bring_back(self, low: _Plan, d: int) -> _Plan:
        """Turn partial layers into whole ones on a device, as many as it takes."""

        def converted(plan: _Plan, step: int) -> _Plan:
            return self._converted(plan, d, step)

        high = self._all_whole(low, d)
        if high.memory[d] <= self._limit(d):
            return high
        return self._narrowed(low, high, d, lambda plan: plan.shares[d].n_full, converted)

    def _narrowed(
        self,
        low: _Plan,
        high: _Plan,
        d: int,
        count: Callable[[_Plan], int],
        grown: Callable[[_Plan, int], _Plan],
    ) -> _Plan:
        """Return the largest plan that meets the target, found by false position."""
        limit = self._limit(d)
        delta = count(high) - count(low)
        while delta > 1:
            step = _guess(delta, limit - low.memory[d], high.memory[d] - low.memory[d])
            test = grown(low, step)
            if test.memory[d] <= limit:
                low = test
            else:
                high = test
            delta = count(high) - count(low)
        return low

    def _all_whole(self, plan: _Plan, d: int) -> _Plan:
        """Move all partial layers to a device, whole; the output layer stays on the last."""
        shares = list(plan.shares)
        last = len(shares) - 1
        for j in range(plan.dense_start, len(shares)):
            moved = shares[j].n_layer - (1 if j == last else 0)
            shares[d] = replace(shares[d], n_layer=shares[d].n_layer + moved)
            shares[j] = replace(shares[j], n_layer=shares[j].n_layer - moved, n_part=0)
        return self._measured(tuple(shares), plan.overflow, last)

    def _converted(self, plan: _Plan, d: int, step: int) -> _Plan:
        shares = list(plan.shares)
        done = 0
        j = plan.dense_start
        while j < len(shares):
            n = min(step - done, shares[j].n_part)
            shares[j] = replace(
                shares[j], n_layer=shares[j].n_layer - n, n_part=shares[j].n_part - n
            )
            shares[d] = replace(shares[d], n_layer=shares[d].n_layer + n)
            done += n
            if shares[j].n_part > 0:
                break
            j += 1
        return self._measured(tuple(shares), plan.overflow, j)

    def _fill_part(self, plan: _Plan, d: int) -> _Plan:
        """Try to place a part of one more layer, so that less memory stays unused."""
        last = len(self.devices) - 1
        j = plan.dense_start
        if j > last or plan.shares[j].n_layer <= (0 if d < last else 1):
            return plan
        shares = list(plan.shares)
        shares[j] = replace(shares[j], n_layer=shares[j].n_layer - 1, n_part=shares[j].n_part - 1)
        shares[d] = replace(shares[d], n_layer=shares[d].n_layer + 1, n_part=shares[d].n_part + 1)
        start = j + 1 if shares[j].n_part == 0 else j
        overflow = list(plan.overflow)
        if d < last:
            overflow[d] = self.devices[d + 1].id

        def kept(what: _Kept) -> _Plan:
            tried = _with(tuple(shares), d, replace(shares[d], kept=what))
            return self._measured(tried, tuple(overflow), start)

        up = kept(_Kept.UP)
        if self._is_below(up, d):
            both = kept(_Kept.UP_AND_GATE)
            return both if self._is_below(both, d) else up
        attention = kept(_Kept.ATTENTION)
        return attention if self._is_below(attention, d) else plan

    def _is_below(self, plan: _Plan, d: int) -> bool:
        ends = (d, d + 1) if d + 1 < len(self.devices) else (d,)
        return all(plan.memory[i] < self._limit(i) for i in ends)

    def _device_steps(self, plan: _Plan) -> list[Step]:
        steps = []
        for device, share, buffer, used, free in zip(
            self.devices, plan.shares, plan.overflow, plan.memory, self.free, strict=True
        ):
            partial = f" ({share.n_part:2d} overflowing)" if self._is_moe else ""
            line = (
                f"  - {device.id} ({device.description}): {share.n_layer:2d} layers{partial}, "
                f"{used // MIB:6d} MiB used, {(free - used) // MIB:6d} MiB free"
            )
            text = f"{device.id} takes {share.n_layer} layers: {used // MIB:,} MiB used."
            # the last device's count has the output layer in it, which has no experts
            n_blocks = share.n_part - (buffer != CPU) - (device is self.devices[-1])
            if n_blocks > 0:
                text += f" Experts of {n_blocks} blocks stay in system memory."
            if share.n_part and buffer != CPU:
                text += " A part of one block goes to the next device."
            steps.append(Step(text, line))
        return steps


def _room_step(room: int) -> Step:
    if room > 0:
        return Step(
            f"Without the experts the devices have {room // MIB:,} MiB to spare.",
            "with only dense weights in device memory there is a total surplus of "
            f"{room // MIB} MiB",
        )
    return Step(
        f"Even without the experts {-room // MIB:,} MiB are missing.",
        "with only dense weights in device memory there is still a total deficit of "
        f"{-room // MIB} MiB",
    )


def _guess(delta: int, wanted: int, span: int) -> int:
    """Return the layers that false position expects to fit, from 1 to delta - 1."""
    if span == 0:
        return 1
    product = delta * wanted
    step = abs(product) // abs(span)
    if (product < 0) != (span < 0) and step:
        return delta - 1  # negative in C++, which is huge when unsigned
    return min(max(step, 1), delta - 1)


def _dense_start(shares: tuple[_Share, ...]) -> int:
    """Return the first device of the last run of devices that have layers."""
    start = len(shares)
    for d in reversed(range(len(shares))):
        if shares[d].n_layer == 0:
            break
        start = d
    return start


def _with(shares: tuple[_Share, ...], d: int, share: _Share) -> tuple[_Share, ...]:
    return (*shares[:d], share, *shares[d + 1 :])
