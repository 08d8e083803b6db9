"""The loads that are asked of live programs."""

from dataclasses import replace

from app.core.request import LoadRequest, Switch, Tool

_CONTEXT_IS_ENOUGH = 1970  # with 5 layers on the Vulkan device
BACKENDS = ("vulkan", "rpc x1", "rpc x2")
MODELS = ("gemma", "deepseek")

_BASE = LoadRequest(ctx=4096)
_EVERYWHERE: tuple[LoadRequest, ...] = (
    replace(_BASE, ngl=0),
    replace(_BASE, ngl=1),
    replace(_BASE, ngl=9),
    replace(_BASE, ngl=99, ctx=8192, ubatch=256),
    replace(_BASE, ngl=12, cache_type_k="q8_0", cache_type_v="q8_0", flash_attn=Switch.ON),
    replace(_BASE, ngl=99, parallel=2, ctx=6000),
    replace(_BASE, ngl=10, kv_offload=False),
    replace(_BASE, ngl=99, overrides=(("ffn_down", "CPU"),)),
)
_TWO_DEVICES: tuple[LoadRequest, ...] = (
    replace(_BASE, ngl=99, tensor_split=(3.0, 1.0)),
    replace(_BASE, ngl=7, device_ids=("RPC1", "RPC0")),
)


def placements(backend: str) -> tuple[LoadRequest, ...]:
    """Return the loads whose rows are compared."""
    if backend == "vulkan":
        more = (replace(_BASE, ngl=9, host_buffers=False), replace(_BASE, op_offload=False, ngl=9))
        return (*_EVERYWHERE, *more)
    dry = tuple(replace(request, tool=Tool.FIT_PARAMS) for request in _EVERYWHERE)
    if backend == "rpc x1":
        return (*dry, replace(_BASE, ngl=9), replace(_BASE, ngl=99, swa_full=True))
    return (*dry, *(replace(request, tool=Tool.FIT_PARAMS) for request in _TWO_DEVICES))


def _fit(target: int, tool: Tool = Tool.FIT_PARAMS, **given: object) -> LoadRequest:
    return replace(LoadRequest(tool=tool, fit_target_mib=target), **given)  # type: ignore[arg-type]  # fields by name


# free: 2048 MiB on the Vulkan device; on an RPC device what this computer has, so the target is
# given as what the load may take: see left_for
FITS: tuple[tuple[str, str, LoadRequest], ...] = (
    ("vulkan", "gemma", _fit(1024, Tool.SERVER)),
    ("vulkan", "gemma", _fit(1850, Tool.SERVER)),
    ("vulkan", "gemma", _fit(1850, Tool.SERVER, ctx=16384)),
    ("vulkan", "gemma", _fit(1850, Tool.SERVER, ctx=0)),
    ("vulkan", "gemma", _fit(1970, Tool.SERVER)),
    ("vulkan", "gemma", _fit(1970, Tool.SERVER, ngl=5)),
    ("vulkan", "gemma", _fit(2020, Tool.SERVER, ngl=5)),
    ("vulkan", "gemma", _fit(1970, Tool.SERVER, overrides=(("ffn_down", "CPU"),))),
    ("vulkan", "gemma", _fit(1850, Tool.SERVER, ngl=99)),
)
RPC_FITS: tuple[tuple[str, str, LoadRequest], ...] = (
    # the target is negated here: what the load may take of the device, in MiB
    ("rpc x1", "deepseek", _fit(-9000, ctx=4096)),
    ("rpc x1", "deepseek", _fit(-6000)),
    ("rpc x1", "deepseek", _fit(-6000, fit_ctx=8192)),
    ("rpc x1", "deepseek", _fit(-3000, ctx=4096)),
    ("rpc x1", "deepseek", _fit(-3000, ngl=20)),
    ("rpc x1", "deepseek", _fit(-6000, Tool.SERVER)),
    ("rpc x1", "gemma", _fit(-600)),
    ("rpc x1", "gemma", _fit(-100, n_cpu_moe=4)),
    ("rpc x1", "gemma", _fit(-600, Tool.SERVER, ngl=99)),
    ("rpc x2", "deepseek", _fit(-9000, ctx=4096)),
    ("rpc x2", "deepseek", _fit(-3000)),
    ("rpc x2", "deepseek", _fit(-1500, tensor_split=(1.0, 1.0))),
    ("rpc x2", "deepseek", _fit(-1500, ngl=15)),
    ("rpc x2", "deepseek", _fit(-1500, overrides=(("ffn_up", "CPU"),))),
)


def refusal(request: LoadRequest) -> str:
    """Return the reason of placement.md 4.2 step 3 that these loads run into, "" = none."""
    if request.tensor_split:
        return "tensor_split already set by user"
    if request.has_override:
        return "tensor_buft_overrides already set by user"
    if request.ngl in (5, 15) and request.fit_target_mib != _CONTEXT_IS_ENOUGH:
        return f"n_gpu_layers already set by user to {request.ngl}"
    return ""
