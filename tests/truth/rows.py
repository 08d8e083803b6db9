"""Reads the truth file: what was asked of llama.cpp, and what it said."""

import gzip
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.core.machine import CpuKind, Device, DeviceKind, Host
from app.core.request import LoadRequest, SplitMode, Switch, Tool
from app.core.units import GIB, MIB
from tests.truth.params import Params

FILE = Path(__file__).parents[1] / "data" / "truth" / "placement_truth.jsonl.gz"
RELATIVES = FILE.with_name("relatives_truth.jsonl.gz")
# llvmpipe's storage buffers, on the AMX machine where the Vulkan rows were recorded
_VULKAN_LIMIT = 128 * MIB
_USUAL_FREE = 24_105 * MIB
_OPTION = re.compile(r"-(\w+) (\S+)")


@dataclass(frozen=True, slots=True)
class Said:
    """One row of the breakdown in MiB, truncated as printed; free None = a host row."""

    buffer: str
    model: int
    context: int
    compute: int
    free: int | None


@dataclass(frozen=True, slots=True)
class Fitted:
    """What --fit chose; the override text as it was printed."""

    ctx: int
    ngl: int
    split: tuple[float, ...]
    overrides: str


@dataclass(frozen=True, slots=True)
class Truth:
    """One run of a program."""

    model: str
    arch: str
    recipe: str
    params: Params
    build: int
    tool: str
    devices: str
    flags: tuple[str, ...]
    status: int
    said: tuple[Said, ...]
    kv_mib: tuple[float, ...]
    fitted: Fitted | None
    fit_lines: tuple[str, ...]
    is_held_out: bool
    nodes: int | None  # of the graph of a whole micro-batch, as the log counts them
    compute_mib: tuple[tuple[str, float], ...]  # by row, to the hundredth

    @property
    def title(self) -> str:
        """Name the run in one line."""
        return f"{self.model} on {self.devices}: {self.tool} {' '.join(self.flags)}"

    @property
    def is_fit(self) -> bool:
        """Tell whether --fit decided something in this run, or refused to."""
        reduced = any(line.startswith("context size reduced") for line in self.fit_lines)
        return self.fitted is not None or reduced or self.refusal != ""

    @property
    def refusal(self) -> str:
        """Return the reason with which --fit gave up."""
        words = "failed to fit params to free device memory: "
        return next((line[len(words) :] for line in self.fit_lines if line.startswith(words)), "")

    @property
    def n_devices(self) -> int:
        """Return how many devices the program had."""
        return {"cpu": 0, "rpc x1": 1, "rpc x2": 2, "vulkan": 1}[self.devices]

    @property
    def host(self) -> Host:
        """Return the host of the recording."""
        cpu = CpuKind.AMX if self.devices == "vulkan" else CpuKind.AVX2
        return Host(cpu, 24 * GIB, 23 * GIB)

    def device_list(self) -> tuple[Device, ...]:
        """Return the devices with the free memory that the run printed."""
        is_vulkan = self.devices == "vulkan"
        kind = DeviceKind.VULKAN if is_vulkan else DeviceKind.RPC
        found = []
        for i in range(self.n_devices):
            name = "Vulkan0" if is_vulkan else f"RPC{i}"
            free = next((one.free for one in self.said if one.buffer == name and one.free), None)
            free_bytes = _USUAL_FREE if free is None else free * MIB
            limit = _VULKAN_LIMIT if is_vulkan else None
            found.append(Device(name, kind, "", free_bytes, free_bytes, "truth", limit))
        return tuple(found)

    def request(self) -> LoadRequest:
        """Return what was asked."""
        return request_of(Tool(self.tool), self.flags)


def read(path: Path = FILE) -> Iterator[Truth]:
    """Yield the runs of a truth file, zipped or not."""
    plain = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    for line in plain.splitlines():
        yield _truth(json.loads(line))


def request_of(tool: Tool, flags: Sequence[str]) -> LoadRequest:
    """Return the request of a command line; an unknown option is an error."""
    given: dict[str, Any] = {}
    left = list(flags)
    while left:
        name = left.pop(0)
        if name in _SWITCHES:
            field, value = _SWITCHES[name]
            given[field] = value
        elif name in _VALUES:
            field, kind = _VALUES[name]
            given[field] = kind(left.pop(0))
        elif name in ("--fit", "-fit", "--fit-print"):
            left.pop(0)
        else:
            raise ValueError(name)
    return LoadRequest(tool=tool, **given)


def _shares(text: str) -> tuple[float, ...]:
    return tuple(float(share) for share in text.split(","))


_SWITCHES: dict[str, tuple[str, bool]] = {
    "-nkvo": ("kv_offload", False),
    "--swa-full": ("swa_full", True),
    "--no-repack": ("repack", False),
    "--no-host": ("host_buffers", False),
    "--no-op-offload": ("op_offload", False),
    "--cpu-moe": ("cpu_moe", True),
}
_VALUES: dict[str, tuple[str, Any]] = {
    "-c": ("ctx", int),
    "-ngl": ("ngl", int),
    "-ub": ("ubatch", int),
    "-b": ("batch", int),
    "-np": ("parallel", int),
    "-ctk": ("cache_type_k", str),
    "-ctv": ("cache_type_v", str),
    "-fa": ("flash_attn", Switch),
    "--n-cpu-moe": ("n_cpu_moe", int),
    "-mg": ("main_gpu", int),
    "-sm": ("split_mode", SplitMode),
    "-ts": ("tensor_split", _shares),
    "-fitt": ("fit_target_mib", int),
    "-fitc": ("fit_ctx", int),
}


def _truth(row: dict[str, Any]) -> Truth:
    said = tuple(
        Said(name.split(" ")[0], one["model"], one["context"], one["compute"], one.get("free"))
        for name, one in row["breakdown"].items()
    )
    return Truth(
        model=row["model"],
        arch=row["arch"],
        recipe=row["recipe"],
        params=Params.of(row["params"]),
        build=int(row["build"]),
        tool=row["tool"],
        devices=row["devices"],
        flags=tuple(row["flags"]),
        status=row["rc"],
        said=said,
        kv_mib=tuple(one["mib"] for one in row.get("kv", ())),
        fitted=_fitted(row["fitted"]) if "fitted" in row else None,
        fit_lines=tuple(row.get("fit", ())),
        is_held_out=bool(row.get("held_out")),
        nodes=int(row["nodes"].split()[0]) if "nodes" in row else None,
        compute_mib=_compute(row.get("compute", {})),
    )


def _compute(printed: dict[str, float]) -> tuple[tuple[str, float], ...]:
    # each RPC server calls its device RPC0 and adds its port, in the order of the devices
    servers = sorted(name for name in printed if name.startswith("RPC"))
    return tuple(
        (f"RPC{servers.index(name)}" if name in servers else name, mib)
        for name, mib in printed.items()
    )


def _fitted(text: str) -> Fitted:
    found = dict(_OPTION.findall(text))
    return Fitted(
        ctx=int(found["c"]),
        ngl=int(found["ngl"]),
        split=_shares(found["ts"]) if "ts" in found else (),
        overrides=text.partition('-ot "')[2].rstrip('"'),
    )
