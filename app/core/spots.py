"""Measured rates with their placement: how much of a token's bytes was on the host for each."""

from dataclasses import dataclass

from app.core import builds, host_memory, placement
from app.core.assign import usable_devices
from app.core.bench import BenchRun, Test
from app.core.errors import UserError
from app.core.evidence import Evidence
from app.core.machine import Device, DeviceKind
from app.core.placement import Placement, Prepared
from app.core.reading import Estimate, Kind
from app.core.request import LoadRequest, Tool
from app.core.slowdown import predicted_share

# two rates are on one line only where all of these agree
_SAME = ("n_threads", "type_k", "type_v", "flash_attn", "n_ubatch", "load_mode", "no_kv_offload")
# op offload copies host weights to the card from this micro-batch on (ggml, build 11434)
_OFFLOADED_FROM = 32


@dataclass(frozen=True, slots=True)
class Spot:
    """One rate as a point of the law: a share on the host, and seconds per token."""

    run: BenchRun
    share: float  # with the block term for generation; of all weights where they are copied
    f: float
    ngl: int
    layers_total: int
    read_bytes: int
    time: Estimate

    @property
    def rate(self) -> Estimate:
        """Return the rate in tokens per second."""
        return inverse(self.time)


def inverse(found: Estimate) -> Estimate:
    """Return seconds per token of a rate, or the rate of seconds per token."""
    return Estimate(1 / found.value, 1 / found.high, 1 / found.low, found.source, found.kind)


def spots_of(evidence: Evidence, runs: tuple[BenchRun, ...]) -> tuple[Spot, ...]:
    """Place each run on the devices of this evidence; those that cannot be placed are left out."""
    if evidence.model is None:
        return ()
    try:
        prepared = placement.prepare(evidence.model)
    except UserError:
        return ()
    found = (_spot(evidence, prepared, run) for run in runs)
    return tuple(spot for spot in found if spot is not None)


def is_alike(one: BenchRun, other: BenchRun) -> bool:
    """Tell whether two rates differ in nothing but the placement."""
    if (one.test, one.instrument, one.build, one.depth, one.model_name) != (
        other.test, other.instrument, other.build, other.depth, other.model_name,
    ):  # fmt: skip
        return False
    if one.test is Test.PROMPT and one.n_tokens != other.n_tokens:
        return False
    return all(one.setting(name) == other.setting(name) for name in _SAME)


def request_of(run: BenchRun) -> LoadRequest | None:
    """Return the load that a rate was measured with, None when its settings do not tell it."""
    ngl = _whole(run, "n_gpu_layers")
    if ngl is None or run.setting("tensor_buft_overrides"):
        return None
    return LoadRequest(
        tool=Tool.BENCH,
        ngl=ngl,
        ctx=_whole(run, "n_ctx") or run.depth + run.n_tokens,
        cache_type_k=run.setting("type_k") or "f16",
        cache_type_v=run.setting("type_v") or "f16",
        ubatch=_whole(run, "n_ubatch") or 512,
        use_devices=run.setting("devices") != "none",
        kv_offload=run.setting("no_kv_offload") not in ("true", "1"),
        n_cpu_moe=_whole(run, "n_cpu_moe") or 0,
    )


def is_copied(evidence: Evidence, request: LoadRequest) -> bool:
    """Tell whether a prompt's host weights are copied to a card instead of computed on the CPU."""
    devices = evidence.machine.devices if evidence.machine else ()
    return copies(usable_devices(devices, request), request)


def copies(devices: tuple[Device, ...], request: LoadRequest) -> bool:
    """Tell whether one of these devices takes over host weights for a prompt (op offload)."""
    if not request.op_offload or request.ubatch < _OFFLOADED_FROM:
        return False
    return any(device.kind is not DeviceKind.RPC for device in devices)


def host_weight_share(placed: Placement) -> float:
    """Return the host's share of all weights, every expert counted (slowdown.md section 9)."""
    total = sum(layer.weights_bytes for layer in placed.layers)
    on_host = sum(layer.host_weights_bytes for layer in placed.layers)
    return on_host / total if total else 0.0


def _spot(evidence: Evidence, prepared: Prepared, run: BenchRun) -> Spot | None:
    request = request_of(run)
    low, high = run.low_tps, run.high_tps
    if request is None or low is None or high is None or low <= 0:
        return None
    devices = evidence.machine.devices if evidence.machine else ()
    try:
        placed = placement.place(
            prepared, devices, host_memory.host_of(evidence.machine), request,
            fill=run.depth, build=builds.of_run(run),
        )  # fmt: skip
    except UserError:
        return None
    is_prompt = run.test is Test.PROMPT and is_copied(evidence, request)
    share = host_weight_share(placed) if is_prompt else predicted_share(placed.f, placed.f_layers)
    return Spot(
        run=run,
        share=share,
        f=placed.f,
        ngl=placed.ngl if request.use_devices else 0,
        layers_total=placed.layers_total,
        read_bytes=placed.reads.total_bytes,
        time=inverse(Estimate(run.mean_tps, low, high, run.instrument, Kind.MEASURED)),
    )


def _whole(run: BenchRun, name: str) -> int | None:
    text = (run.setting(name) or "").strip()
    return int(text) if text.lstrip("-").isdigit() else None
