"""The planner against loads that others printed on real GPUs: python -m tests.truth.gpus.

Its rules for compute buffers of older builds were made from these rows: a fit, not a test.
"""

import bisect
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from app.core import requant
from app.core.eras import Change
from app.core.machine import CpuKind, Device, DeviceKind, Host
from app.core.model import Model
from app.core.placement import HOST_ROW, Placement, Prepared, Row, place, prepare
from app.core.request import LoadRequest, Switch, Tool
from app.core.units import GIB, MIB
from tests.truth import models
from tests.truth.check import Count
from tests.truth.params import Params

FILE = Path(__file__).parents[1] / "data" / "truth" / "gpu_loads.jsonl"
_ARCHITECTURES = (
    ("gpt-oss", "gpt-oss"), ("qwen3.5-35b", "qwen35moe"), ("qwen3.5", "qwen35"),
    ("qwen3-next", "qwen3next"), ("qwen3-30b", "qwen3moe"), ("qwen3", "qwen3"),
    ("qwen2.5", "qwen2"), ("qwen1", "qwen2"), ("llama", "llama"),
)  # fmt: skip
_PLAIN = re.compile(r"(Q4_K_M|Q8_0|Q4_0|F16|MXFP4)\Z")
_BY_BITS = {"2": "Q2_K", "3": "Q3_K_M", "5": "Q5_K_M", "6": "Q6_K", "8": "Q8_0"}
_NO_PIPELINE = (("no tensor has this name", "CPU"),)  # any override turns it off
_HOST = re.compile(r"CPU|Host|_Host")
_MODEL_MIB, _KV_MIB, _CONTEXT_MIB = 1.01, 0.02, 1.01  # whole MiB are printed cut off
_COMPUTE_SHARE = 0.05


@dataclass(frozen=True, slots=True)
class GpuLoad:
    """One load as its log showed it; sizes in MiB by the buffer's name."""

    id: str
    backend: str
    builds: tuple[int, ...]  # the one that is named, else those of its months
    model: Model | None  # None: its architecture is not among the builders
    is_plain: bool  # the mixture of types is known
    request: LoadRequest
    devices: tuple[Device, ...]
    weights: Mapping[str, float]
    kv: tuple[float, ...]
    is_part: bool  # some layers were left in system memory
    hides_experts: bool  # --fit left experts in system memory; the log does not say of how many
    context: Mapping[str, float]
    compute: Mapping[str, float]


@dataclass(slots=True)
class Backend:
    """What agrees on one backend."""

    counts: dict[str, Count] = field(default_factory=dict)
    differences: list[str] = field(default_factory=list)

    def add(self, what: str, load: GpuLoad, *, is_right: bool, text: str = "") -> None:
        """Count one figure; what is wrong is listed."""
        self.counts.setdefault(what, Count()).add(is_right)
        if not is_right:
            self.differences.append(f"{load.id} {load.backend}: {what} {text}")


KINDS = (
    "weights", "KV cache", "context row", "host compute", "host compute in range",
    "device compute", "device compute in range", "compute in range, build unknown",
)  # fmt: skip
# the last build of each month, from the tags of llama.cpp's releases, to about ten
_LAST_BUILDS = {
    "2025-04": 5230, "2025-05": 5550, "2025-06": 5790, "2025-07": 6040, "2025-08": 6330,
    "2025-09": 6650, "2025-10": 6900, "2025-11": 7210, "2025-12": 7590, "2026-01": 7890,
    "2026-02": 8180, "2026-03": 8600, "2026-04": 8980, "2026-05": 9440, "2026-06": 9850,
    "2026-07": 10220, "2026-08": 10740, "2026-09": 11250, "2026-10": 11433,
}  # fmt: skip
# Ollama's own runner kept a llama.cpp of early December 2025 (ec98e2002) until it was replaced
_OLLAMA_RUNNER = 7394


def read(path: Path = FILE) -> tuple[GpuLoad, ...]:
    """Return the loads of the file; reports about overhead are no loads."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return tuple(_load(row) for row in rows if "params" in row)


def check(loads: Sequence[GpuLoad]) -> dict[str, Backend]:
    """Compare all loads by backend."""
    found: dict[str, Backend] = {}
    for load in loads:
        backend = found.setdefault(load.backend, Backend())
        if load.model is not None:
            _check(load, load.model, backend)
    return found


def table(found: Mapping[str, Backend]) -> Iterator[str]:
    """Yield the table as Markdown."""
    yield f"| | {' | '.join(found)} |"
    yield f"| --- |{' --- |' * len(found)}"
    for kind in KINDS:
        counts = [backend.counts.get(kind) for backend in found.values()]
        yield f"| {kind} | {' | '.join(f'{c.right}/{c.total}' if c else '-' for c in counts)} |"


def _check(load: GpuLoad, model: Model, backend: Backend) -> None:
    prepared, host = prepare(model), Host(CpuKind.AVX2, 256 * GIB, 250 * GIB)
    request = _with_experts(load, prepared, host) if load.hides_experts else load.request
    all_placed = [
        place(prepared, load.devices, host, request, dry_pass=False, build=build)
        for build in load.builds
    ]
    _check_memory(load, all_placed[0], backend)
    of_any = place(prepared, load.devices, host, request)
    for name, mib in load.compute.items():
        _check_compute(load, name, mib, [_row(name, placed) for placed in all_placed], backend)
        row = _row(name, of_any)
        is_right = _is_in_range(mib, row)
        text = f"{name} {mib}, not {row.compute_low_bytes / MIB:.1f} to "
        text += f"{row.compute_high_bytes / MIB:.1f}"
        backend.add("compute in range, build unknown", load, is_right=is_right, text=text)


def _with_experts(load: GpuLoad, prepared: Prepared, host: Host) -> LoadRequest:
    """Return the load with as many experts on the device as its weights there say."""
    said = sum(mib for name, mib in load.weights.items() if not _HOST.search(name))

    def excess(n: int) -> float:
        asked = replace(load.request, n_cpu_moe=n)
        placed = place(prepared, load.devices, host, asked, build=load.builds[0])
        return placed.total(is_host=False).weights_bytes / MIB - said

    # with more experts on the host less is on the device
    n = bisect.bisect_left(range(prepared.shape.n_layer), 1, key=lambda n: int(excess(n) <= 0))
    return replace(load.request, n_cpu_moe=min(max(n - 1, 0), n, key=lambda n: abs(excess(n))))


def _check_compute(
    load: GpuLoad, name: str, mib: float, rows: Sequence[Row], backend: Backend
) -> None:
    """Compare with the nearest of the builds that the load may be of."""
    what = "host compute" if rows[0].is_host else "device compute"
    row = min(rows, key=lambda one: abs(one.compute_bytes / MIB - mib))
    low, value, high = (
        n / MIB for n in (row.compute_low_bytes, row.compute_bytes, row.compute_high_bytes)
    )
    text = f"{name} {mib}, not {value:.1f} ({low:.1f} to {high:.1f})"
    backend.add(what, load, is_right=abs(value - mib) <= _COMPUTE_SHARE * mib, text=text)
    backend.add(f"{what} in range", load, is_right=_is_in_range(mib, row), text=text)


def _is_in_range(mib: float, row: Row) -> bool:
    # whole MiB are printed cut off
    return row.compute_low_bytes / MIB - 1 <= mib <= row.compute_high_bytes / MIB + 1


def _check_memory(load: GpuLoad, placed: Placement, backend: Backend) -> None:
    if load.is_plain:
        for name, mib in load.weights.items():
            own = [n / MIB for n in _weights(name, placed)]
            is_right = any(abs(one - mib) <= _MODEL_MIB for one in own)
            backend.add("weights", load, is_right=is_right, text=f"{name} {mib}, not {own}")
    if load.kv:
        own_kv = sorted(cache.n_bytes / MIB for cache in placed.caches)
        if load.is_part:  # the lines name the device's part
            own_kv = [placed.total(is_host=False).context_bytes / MIB]
        said = sorted(load.kv) if len(load.kv) == len(own_kv) else [sum(load.kv)]
        own_kv = own_kv if len(said) == len(own_kv) else [sum(own_kv)]
        is_right = all(abs(a - b) <= _KV_MIB for a, b in zip(own_kv, said, strict=True))
        backend.add("KV cache", load, is_right=is_right, text=f"{load.kv}, not {own_kv}")
    for name, mib in load.context.items():
        row = _row(name, placed)
        value = row.context_bytes / MIB
        is_right = abs(value - mib) <= _CONTEXT_MIB
        backend.add("context row", load, is_right=is_right, text=f"{name} {mib}, not {value}")


def _weights(name: str, placed: Placement) -> tuple[int, ...]:
    """Return what a line may print: a buffer's sum, or for a mapped one also the file's range."""
    row = _row(name, placed)
    if name.endswith("_Mapped") and row.is_host and placed.mapped_bytes is not None:
        return row.weights_bytes, placed.mapped_bytes
    return (row.weights_bytes,)


def _row(name: str, placed: Placement) -> Row:
    plain = HOST_ROW if _HOST.search(name) else name.removesuffix("_Mapped")
    row = placed.row(plain)
    assert row is not None, name
    return row


def _load(row: Mapping[str, Any]) -> GpuLoad:
    printed = row["printed"]
    weights = _sizes(printed.get("model"))
    compute, context = _sizes(printed.get("compute")), _sizes(printed.get("context"))
    kind = DeviceKind(row["backend"].lower())
    names = sorted(
        {
            name.removesuffix("_Mapped")
            for name in (*weights, *compute, *context)
            if not _HOST.search(name)
        }
    )
    return GpuLoad(
        id=row["id"],
        backend=row["backend"],
        builds=_builds(row),
        model=_model(row),
        is_plain="model" in (row["diff"] or {}) and bool(_PLAIN.search(row["quant"])),
        request=_request(row, len(names)),
        devices=tuple(Device(name, kind, "", None, 24 * GIB, "a log") for name in names),
        weights=weights,
        kv=tuple(printed.get("kv") or ()),
        is_part=0 < (row["ngl"] or 0) < int((row["params"] or {}).get("L", 0)),
        hides_experts="expert-offload" in row["why"] and "moe" not in (row["flags"] or ""),
        context=context,
        compute=compute,
    )


def _builds(row: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the build, or one of each kind in the months in which the log was written."""
    build = row["build"]
    if build and str(build).isdigit():
        return (int(build),)
    months = re.findall(r"\d{4}-\d\d", row["when"]) if row["when"] else []
    year = row["when"][:4]
    months += [f"{year}-{end}" for end in re.findall(r"\.\.(\d\d)\Z", row["when"])]
    first, last = months[0], months[-1]
    known = list(_LAST_BUILDS)
    # people run builds of the month before too, and a library holds any older one
    low = _LAST_BUILDS[known[max(known.index(first) - 2, 0)]] + 1
    high = _LAST_BUILDS[last]
    if row["program"].startswith("library"):
        low = 1
    if row["program"] == "Ollama":
        low, high = min(low, _OLLAMA_RUNNER), min(high, _OLLAMA_RUNNER)
    edges = (change.value[1] for change in Change)
    return tuple(dict.fromkeys((high, low, *(n for n in edges if low < n < high))))


def _sizes(plain: Mapping[str, float] | None) -> dict[str, float]:
    return dict(plain or {})


def _model(row: Mapping[str, Any]) -> Model | None:
    arch = next((arch for word, arch in _ARCHITECTURES if row["model"].startswith(word)), "")
    if not arch or not row["params"]:
        return None
    params = Params.of(row["params"])
    if row["quant"].startswith("MXFP4"):
        return models.build(row["model"], arch, "mxfp4_moe", params)
    made = models.build(row["model"], arch, "f16", params)
    plain, bits = _PLAIN.search(row["quant"]), re.search(r"I?Q([2-8])_", row["quant"])
    like = _BY_BITS.get(bits[1], "Q4_K_M") if bits else "Q4_K_M"
    return requant.requantised(made, plain[1] if plain else like)


def _request(row: Mapping[str, Any], n_devices: int) -> LoadRequest:
    n_seq = int(row["n_seq"])
    keeps_all = row["outputs"] == "all tokens of the batch"
    moe = re.search(r"--n-cpu-moe (\d+)", row["flags"] or "")
    return LoadRequest(
        tool=Tool.FIT_PARAMS if keeps_all and n_seq == 1 else Tool.SERVER,
        ngl=row["ngl"],
        ctx=int(row["ctx"]),
        cache_type_k=row["type_k"],
        cache_type_v=row["type_v"],
        flash_attn=Switch.ON if row["fa"] else Switch.OFF,
        ubatch=int(row["ubatch"]),
        parallel=None if n_seq == 4 else n_seq,
        n_cpu_moe=int(moe[1]) if moe else 0,
        overrides=() if "pipeline" in row["why"] or n_devices < 2 else _NO_PIPELINE,
    )


if __name__ == "__main__":
    compared = check(read())
    print("\n".join(table(compared)))
    print()
    for one in compared.values():
        print("\n".join(one.differences))
