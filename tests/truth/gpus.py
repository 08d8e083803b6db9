"""The planner against loads that others printed on real GPUs: python -m tests.truth.gpus.

Its rules for compute buffers of older builds were made from these rows: a fit, not a test.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.core import requant
from app.core.machine import CpuKind, Device, DeviceKind, Host
from app.core.model import Model
from app.core.placement import HOST_ROW, Placement, Row, place, prepare
from app.core.request import LoadRequest, Switch, Tool
from app.core.units import GIB, MIB
from tests.truth import models
from tests.truth.check import Count
from tests.truth.params import Params

FILE = Path(__file__).parents[1] / "data" / "truth" / "gpu_loads.jsonl"
_ARCHITECTURES = (
    ("gpt-oss", "gpt-oss"), ("qwen3.5-35b", ""), ("qwen3.5", "qwen35"), ("qwen3-next", "qwen3next"),
    ("qwen3-30b", "qwen3moe"), ("qwen3", "qwen3"), ("qwen2.5", "qwen2"), ("qwen1", "qwen2"),
    ("llama", "llama"),
)  # fmt: skip
_PLAIN = re.compile(r"(Q4_K_M|Q8_0|Q4_0|F16|MXFP4)\Z")
_HOST = re.compile(r"CPU|Host|_Host")
_MODEL_MIB, _KV_MIB, _CONTEXT_MIB = 1.01, 0.02, 1.01  # whole MiB are printed cut off
_COMPUTE_SHARE = 0.05


@dataclass(frozen=True, slots=True)
class GpuLoad:
    """One load as its log showed it; sizes in MiB by the buffer's name."""

    id: str
    backend: str
    build: int | None
    model: Model | None  # None: its architecture is not among the builders
    is_plain: bool  # the mixture of types is known
    request: LoadRequest
    devices: tuple[Device, ...]
    weights: Mapping[str, float]
    kv: tuple[float, ...]
    is_part: bool  # some layers were left in system memory
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


KINDS = ("weights", "KV cache", "context row", "host compute", "device compute")


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
    placed = place(
        prepare(model), load.devices, Host(CpuKind.AVX2, 256 * GIB, 250 * GIB), load.request,
        dry_pass=False, build=load.build,
    )  # fmt: skip
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
    for name, mib in load.compute.items():
        row = _row(name, placed)
        what = "host compute" if row.is_host else "device compute"
        low, value, high = (
            n / MIB for n in (row.compute_low_bytes, row.compute_bytes, row.compute_high_bytes)
        )
        in_range = low - 1 <= mib <= high + 1
        is_right = in_range or abs(value - mib) <= _COMPUTE_SHARE * mib
        text = f"{name} {mib}, not {value:.1f} ({low:.1f} to {high:.1f})"
        backend.add(what, load, is_right=is_right, text=text)


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
    build = row["build"]
    return GpuLoad(
        id=row["id"],
        backend=row["backend"],
        build=int(build) if build and str(build).isdigit() else None,
        model=_model(row),
        is_plain="model" in (row["diff"] or {}) and bool(_PLAIN.search(row["quant"])),
        request=_request(row),
        devices=tuple(Device(name, kind, "", None, 24 * GIB, "a log") for name in names),
        weights=weights,
        kv=tuple(printed.get("kv") or ()),
        is_part=0 < (row["ngl"] or 0) < int((row["params"] or {}).get("L", 0)),
        context=context,
        compute=compute,
    )


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
    plain = _PLAIN.search(row["quant"])
    return requant.requantised(made, plain[1] if plain else "Q4_K_M")


def _request(row: Mapping[str, Any]) -> LoadRequest:
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
    )


if __name__ == "__main__":
    compared = check(read())
    print("\n".join(table(compared)))
    print()
    for one in compared.values():
        print("\n".join(one.differences))
