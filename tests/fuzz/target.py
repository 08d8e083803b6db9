"""What is fuzzed: the bytes of a file are read, planned and fitted, as `plan` does it.

An input is eight bytes that choose the request, then the file.
"""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from app.core import plan as planning
from app.core.errors import UserError
from app.core.fit_table import FitWish, fit_rows
from app.core.machine import CpuKind, Device, DeviceKind, Host
from app.core.placement import prepare
from app.core.plan import Situation
from app.core.plan_json import plan_json
from app.core.quants import CACHE_TYPES
from app.core.reading import Estimate
from app.core.request import LoadRequest, SplitMode, Switch, Tool
from app.core.units import GIB, MIB
from app.gguf.model import read_model
from tests.gguf.build import dense

CHOICES = 8
HOST = Host(CpuKind.AVX2, 16 * GIB, 8 * GIB)
_KINDS = (DeviceKind.CUDA, DeviceKind.VULKAN, DeviceKind.RPC, DeviceKind.METAL)
_F16 = CACHE_TYPES.index("f16")
_CONTEXTS = (None, 0, 1, 255, 4096, 100_000, 1 << 31)
# one kind of memory, of attention and of experts each
_ARCHS = (
    "llama", "gemma3", "gemma3n", "gemma4", "deepseek2", "qwen35", "granitehybrid", "nemotron_h",
    "lfm2", "mamba", "mamba2", "rwkv6", "falcon-h1", "gpt-oss", "llama4", "qwen3moe", "qwen3next",
)  # fmt: skip


def run(data: bytes, folder: Path) -> str:
    """Plan one input; return how it ended. Anything but a UserError is a find."""
    choices, content = data[:CHOICES].ljust(CHOICES, b"\0"), data[CHOICES:]
    path = folder / "fuzzed.gguf"
    path.write_bytes(content)
    try:
        model = read_model(path)
        prepared = prepare(model)
        situation = situation_of(choices)
        plan = planning.plan_of(model, prepared, situation)
        plan_json(plan)
        if choices[7] & 1:
            wish = FitWish(contexts=(4096, 32768))
            rows = fit_rows(model, situation.devices, HOST, situation.request, wish)
            list(islice(rows, 3))
    except UserError as error:
        assert error.sentence().isprintable()
        return error.title
    _check(plan)
    return "planned"


def situation_of(choices: bytes) -> Situation:
    """Return devices and request that eight bytes choose."""
    first, second, third, fourth, fifth, sixth, seventh, _last = choices
    kind = _KINDS[first % len(_KINDS)]
    devices = tuple(
        Device(f"D{i}", kind, "fuzz", None, (first + 1) * 16 * MIB, "fuzz")
        for i in range(second % 4)
    )
    request = LoadRequest(
        tool=tuple(Tool)[third % len(Tool)],
        ngl=None if third & 0x80 else fourth,
        ctx=_CONTEXTS[fifth % len(_CONTEXTS)],
        cache_type_k=CACHE_TYPES[sixth % len(CACHE_TYPES)],
        cache_type_v=CACHE_TYPES[(sixth >> 4) % len(CACHE_TYPES)],
        flash_attn=tuple(Switch)[seventh % len(Switch)],
        parallel=None if seventh & 0x10 else 1 + seventh % 7,
        n_cpu_moe=fourth % 5 if seventh & 0x20 else 0,
        swa_full=bool(seventh & 0x40),
        kv_offload=not seventh & 0x80,
        split_mode=SplitMode.NONE if second & 0x80 else SplitMode.LAYER,
        fit_targets_mib=tuple(range(second % 4)) if second & 0x40 else (),
    )
    return Situation(devices, HOST, request, Estimate.typed(4.0) if first & 1 else None)


def seeds() -> Iterator[bytes]:
    """Yield small whole files of many architectures, each with another request."""
    for i, arch in enumerate(_ARCHS):
        file = dense(arch, blocks=2, more=_keys(arch)).header()
        yield bytes(((i * 37) % 256, i % 4, i, i, i, 17 * _F16, i * 16 % 256, i)) + file


def _keys(arch: str) -> dict[str, int]:
    """Return the keys beside those of a plain model that decide about its memory."""
    values = {
        "expert_count": 4, "expert_used_count": 2, "attention.sliding_window": 64,
        "ssm.conv_kernel": 4, "ssm.inner_size": 64, "ssm.state_size": 16, "ssm.group_count": 1,
        "nextn_predict_layers": 0, "attention.shared_kv_layers": 1, "shortconv.l_cache": 3,
        "full_attention_interval": 2,
    }  # fmt: skip
    if arch.startswith("deepseek"):
        values |= {"attention.key_length_mla": 64, "attention.value_length_mla": 64}
    return {f"{arch}.{name}": value for name, value in values.items()}


def _check(plan: planning.Plan) -> None:
    """Hold an answer to what is true of every placement."""
    placed = plan.placement
    assert 0 <= placed.f <= 1 and 0 <= placed.f_layers <= 1
    assert 0 <= placed.ngl <= placed.layers_total
    for row in placed.rows:
        assert row.weights_bytes >= 0 and row.context_bytes >= 0
        assert 0 <= row.compute_low_bytes <= row.compute_bytes <= row.compute_high_bytes
    assert plan.fit.layers <= plan.fit.layers_total
