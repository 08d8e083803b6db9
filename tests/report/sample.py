"""A long piece of evidence for reports: a real log, a model with a CJK name, a full machine."""

from pathlib import Path

from app.core import facts
from app.core.bench import BenchRun, Test
from app.core.evidence import Evidence, LoadOutcome, MemoryWatch
from app.core.machine import Device, DeviceKind, Machine, MachineFact, Program, Runtime
from app.core.model import KeyValue, Model, Part, Tensor
from app.core.reading import State
from app.core.request import LoadRequest
from app.core.units import GIB, MIB
from app.logs import scan

LOG = Path(__file__).parent.parent / "data" / "logs" / "b10434-vulkan-partial-ngl9-lv4.log"
NAME = "ラマ-日本語-試験_llama_Ünïcode-Q4_K_M.gguf"
_SETTINGS = (
    ("n_gpu_layers", "9"), ("n_threads", "8"), ("type_k", "f16"), ("type_v", "f16"),
    ("flash_attn", "-1"), ("n_batch", "2048"), ("n_ubatch", "512"), ("devices", "auto"),
)  # fmt: skip


def evidence() -> Evidence:
    """Return evidence with every part filled; the user is peter on peters-box."""
    return Evidence(
        model=model(),
        machine=machine(),
        request=LoadRequest(ngl=9, ctx=4096),
        outcome=LoadOutcome(
            ("/home/peter/llama/llama-server", "-m", f"/home/peter/models/{NAME}", "-ngl", "9",
             "-c", "4096", "-lv", "4", "--api-key", "geheim-1234"),
            "llama-server", is_ready=True, exit_text="", load_s=2.71,
        ),
        log=scan.scan_file(LOG),
        runs=runs(),
        watch=MemoryWatch(
            31.4, 63, swap_in_max=0.0, swap_out_max=0.0, refault_max=0.0,
            swap_used_before_bytes=12 * MIB, swap_used_after_bytes=12 * MIB, other_cpu_max=0.3,
            cores=16, source="/proc/vmstat, psutil",
        ),
        symptom="slow-writing",
        notes=("llama-bench was not found; the rates come from llama-server.",),
    )  # fmt: skip


def runs() -> tuple[BenchRun, ...]:
    """Return prompt and generation rates at two depths."""
    rows = (
        (Test.PROMPT, 512, 0, (402.1, 409.8, 398.4, 411.0, 405.3)),
        (Test.PROMPT, 512, 4096, (301.4, 296.0, 305.9)),
        (Test.GENERATION, 128, 0, (28.4, 28.9, 27.7, 28.8, 28.6)),
        (Test.GENERATION, 128, 4096, (24.1, 23.8, 24.6)),
    )
    return tuple(
        BenchRun(test, n, samples, "llama-server", _SETTINGS, depth=depth, build="10434",
                 model_name=NAME, run_id="a", started="2026-11-30T10:00:00Z")
        for test, n, depth, samples in rows
    )  # fmt: skip


def model() -> Model:
    """Return a dense model of 18 blocks with a chat template."""
    width, vocabulary = 640, 262144
    shapes = {
        "attn_q": (width, 1024), "attn_k": (width, 256), "attn_v": (width, 256),
        "attn_output": (1024, width), "ffn_gate": (width, 2048), "ffn_up": (width, 2048),
        "ffn_down": (2048, width),
    }  # fmt: skip
    tensors = [Tensor("token_embd.weight", 8, (width, vocabulary), 0)]
    tensors += [
        Tensor(f"blk.{block}.{name}.weight", 12 if name != "ffn_down" else 14, shape, 0)
        for block in range(18)
        for name, shape in shapes.items()
    ]
    keys: dict[str, KeyValue] = {
        "general.architecture": "llama",
        "general.name": "Lama 日本語",
        "llama.block_count": 18,
        "llama.context_length": 32768,
        "llama.embedding_length": width,
        "llama.feed_forward_length": 2048,
        "llama.attention.head_count": 4,
        "llama.attention.head_count_kv": 1,
        "llama.attention.key_length": 256,
        "llama.attention.value_length": 256,
        "llama.vocab_size": vocabulary,
        "tokenizer.chat_template": "{{ messages }}",
        "tokenizer.ggml.eos_token_id": 1,
        "tokenizer.ggml.model": "llama",
    }
    part = Part(f"/home/peter/models/{NAME}", 253_113_024, 6_522_016, 32)
    return Model(NAME, "llama", 3, False, keys, tuple(tensors), (part,))


def machine() -> Machine:
    """Return a desktop with a card, many facts, and some that could not be read."""
    return Machine(
        facts=(*_facts(), *_unknown_facts()),
        devices=(
            Device("Vulkan0", DeviceKind.VULKAN, "AMD Radeon RX 7600 (RADV NAVI33)", 8176 * MIB,
                   7301 * MIB, "llama-server --list-devices", is_integrated=False),
        ),
        runtimes=(
            Runtime("llama.cpp", "llama.cpp", "/home/peter/llama", "0.5.1", 10434,
                    (Program("llama-server", "/home/peter/llama/llama-server"),), "PATH",
                    backends=("Vulkan", "RPC")),
        ),
        devices_source="llama-server --list-devices",
    )  # fmt: skip


def _facts() -> tuple[MachineFact, ...]:
    k = facts.known
    return (
        k("os.name", "Debian GNU/Linux 13 (trixie)", source="/etc/os-release"),
        k("os.kernel", "6.12.41-amd64", source="/proc/sys/kernel/osrelease"),
        k("os.arch", "x86_64", source="psutil"),
        k("os.is_wsl", False, source="/proc/sys/kernel/osrelease"),
        k("cpu.model", "AMD Ryzen 7 7700 8-Core Processor", source="/proc/cpuinfo"),
        k("cpu.physical", 8, source="/sys/devices/system/cpu/cpu*/topology/thread_siblings_list"),
        k("cpu.logical", 16, source="/sys/devices/system/cpu"),
        k("cpu.instruction_sets", ("avx", "avx2", "f16c", "fma", "avx512f", "avx512bw",
                                   "avx512_vnni", "avx512_bf16"), source="/proc/cpuinfo"),
        k("memory.total", 33_512_566_784, unit="bytes", source="/proc/meminfo"),
        k("memory.available", 27 * GIB, unit="bytes", source="/proc/meminfo"),
        k("swap.total", 4 * GIB, unit="bytes", source="/proc/meminfo"),
        k("swap.used", 12 * MIB, unit="bytes", source="/proc/meminfo"),
        k("gpu.count", 1, source="counted from the probes"),
        k("gpu.0.vendor", "AMD", source="/sys/class/drm/card1"),
        k("gpu.0.name", "Radeon RX 7600", source="/sys/class/drm/card1"),
        k("gpu.0.memory_total", 8176 * MIB, unit="bytes", source="mem_info_vram_total"),
        k("gpu.0.memory_free", 7301 * MIB, unit="bytes", source="mem_info_vram_used"),
        k("gpu.0.pcie_width", 8, source="/sys/class/drm/card1/device/current_link_width"),
        k("llama.devices", 1, source="llama-server --list-devices"),
    )  # fmt: skip


def _unknown_facts() -> tuple[MachineFact, ...]:
    return (
        facts.missing("memory.limit", State.ABSENT, source="cgroup",
                      reason="no limit is set on this group of programs"),
        facts.missing("memory.speed", State.DENIED, source="dmidecode -t 17",
                      reason="needs root; run the command and paste its output"),
        facts.missing("nvidia.search", State.ABSENT, source="NVML",
                      reason="NVIDIA's library (NVML) is not installed"),
    )  # fmt: skip
