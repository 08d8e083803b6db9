"""What is asked of a runtime when it loads a model."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

NGL_AUTO = -1
DEFAULT_TARGET_MIB = 1024
USUAL_CONTEXTS = (2048, 4096, 8192, 16384, 32768, 65536, 131072)  # tokens, as a list offers them


class Tool(Enum):
    """The program that loads the model; their defaults differ (placement.md 2.1, 3)."""

    SERVER = "llama-server"
    BENCH = "llama-bench"
    FIT_PARAMS = "llama-fit-params"


class Switch(Enum):
    """A setting with an automatic position."""

    AUTO = "auto"
    ON = "on"
    OFF = "off"


class SplitMode(Enum):
    """How a model is cut over several devices."""

    NONE = "none"
    LAYER = "layer"
    ROW = "row"


@dataclass(frozen=True, slots=True)
class LoadRequest:
    """The options of a load; None = not given, so the program's default holds."""

    tool: Tool = Tool.SERVER
    ngl: int | None = None  # None or negative: all layers, llama.cpp's "auto" and "all"
    ctx: int | None = None  # 0 and None: the training context
    cache_type_k: str = "f16"
    cache_type_v: str = "f16"
    flash_attn: Switch = Switch.AUTO
    batch: int = 2048
    ubatch: int = 512
    parallel: int | None = None
    kv_offload: bool = True
    swa_full: bool = False
    use_devices: bool = True  # False: --device none
    device_ids: tuple[str, ...] = ()  # --device A,B; empty: all
    rpc_servers: tuple[str, ...] = ()  # host:port of devices reached by ggml-rpc-server
    main_gpu: int = 0
    split_mode: SplitMode = SplitMode.LAYER
    tensor_split: tuple[float, ...] = ()
    n_cpu_moe: int = 0
    cpu_moe: bool = False
    n_cpu_ffn: int = 0
    overrides: tuple[tuple[str, str], ...] = ()  # -ot REGEX=BUFFER, in order
    host_buffers: bool = True  # False: --no-host
    repack: bool = True
    op_offload: bool = True
    load_mode: str = "auto"
    fit_target_mib: int | None = None
    fit_targets_mib: tuple[int, ...] = ()  # one a device, instead of the one for all
    fit_ctx: int | None = None
    threads: int | None = None
    projector_path: str = ""  # --mmproj: the file that looks at pictures
    projector_offload: bool = True  # False: --no-mmproj-offload
    draft_path: str = ""  # --model-draft: the small model that proposes tokens
    draft_type: str = ""  # --spec-type; empty: what the draft's own header says

    @property
    def has_fit_target(self) -> bool:
        """Tell whether a margin for --fit is asked for."""
        return self.fit_target_mib is not None or bool(self.fit_targets_mib)

    @property
    def has_override(self) -> bool:
        """Tell whether any tensor is moved by name."""
        return bool(self.overrides or self.cpu_moe or self.n_cpu_moe or self.n_cpu_ffn)


def targets_mib(request: LoadRequest, n_devices: int) -> tuple[int, ...]:
    """Return what --fit leaves free on each device, in MiB; for the host when there is none."""
    n = max(n_devices, 1)
    one = DEFAULT_TARGET_MIB if request.fit_target_mib is None else request.fit_target_mib
    listed = request.fit_targets_mib
    if len(listed) == 1:
        return listed * n
    # devices beyond the list keep the default (common/arg.cpp, -fitt, build 11434)
    return (*listed, *(one,) * n)[:n]


def changed(request: LoadRequest, change: Iterable[tuple[str, object]]) -> LoadRequest:
    """Return a request with some fields set, as a fix names them."""
    fields: dict[str, Any] = dict(change)
    return replace(request, **fields)
