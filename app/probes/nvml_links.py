"""Asks NVIDIA's library how cards are joined, and how long each was held down since its start."""

from collections.abc import Callable
from typing import Any

from app.core.host import NvmlValue

_MAX_LINKS = 36  # NVML_NVLINK_MAX_LINKS of the library of 2026
Call = Callable[..., tuple[Any, str]]


def of_card(api: Any, call: Call, handle: Any) -> list[NvmlValue]:
    """Return the active NVLinks, the time under each limit in ns, and whether ECC is on."""
    found = [_nvlinks(api, call, handle)]
    for query, policy in (
        ("violation.power", api.NVML_PERF_POLICY_POWER),
        ("violation.thermal", api.NVML_PERF_POLICY_THERMAL),
    ):
        answer, error = call(api, api.nvmlDeviceGetViolationStatus, handle, policy)
        value = getattr(answer, "violationTime", None)
        found.append(NvmlValue(query, int(value) if isinstance(value, int) else None, error))
    pair, error = call(api, api.nvmlDeviceGetEccMode, handle)
    now = pair[0] if isinstance(pair, list | tuple) and pair else None
    found.append(NvmlValue("ecc", now if isinstance(now, int) else None, error))
    return found


def between(api: Any, call: Call, handle: Any, others: dict[int, Any]) -> list[NvmlValue]:
    """Return how far each of the other cards is, as a level of nvmlGpuTopologyLevel."""
    found = []
    for index, other in others.items():
        level, error = call(api, api.nvmlDeviceGetTopologyCommonAncestor, handle, other)
        value = level if isinstance(level, int) else None
        found.append(NvmlValue(f"topology.{index}", value, error))
    return found


def _nvlinks(api: Any, call: Call, handle: Any) -> NvmlValue:
    n_active, n_asked, error = 0, 0, ""
    for link in range(_MAX_LINKS):
        state, error = call(api, api.nvmlDeviceGetNvLinkState, handle, link)
        if error:  # NotSupported: no NVLink; InvalidArgument: the links have ended
            break
        n_asked += 1
        n_active += state == 1
    return NvmlValue("nvlinks", n_active if n_asked else None, "" if n_asked else error)
