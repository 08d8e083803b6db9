"""One model reads far fewer bytes per second than another on the same card and backend.

What: generation reads the whole model for each token, so size times rate is a bandwidth, about
the same for all models on one card. Where it collapses, the backend's code for that shape is bad.
Evidence: two generation rates with all layers on one device, whose bandwidths differ much: of two
models with one backend, or of one model with two.
Arithmetic: file bytes x tokens per second, of each run; a factor above 2.5.
Fix: the same benchmark with the other backend's build, and keep the faster one.
Proof: the bandwidth of the slow model comes near that of the fast one.
Sources: slowdown.md section 7 (full GPU far below the card); advice.md claim 52; llama.cpp issue
26663.
"""

from dataclasses import dataclass

from app.core import names, units
from app.core.bench import BenchRun, Test
from app.core.evidence import Evidence
from app.core.rule import Certainty, Cite, Finding, Fix, Rule
from app.rules import rates, seen

_FACTOR = 2.5
_SMALLEST_BYTES = 1_500_000_000  # below, fixed costs per token hide the bandwidth
_OTHERS = {
    "Vulkan": "the build for the card's own library: HIP (ROCm) for AMD, CUDA for NVIDIA, SYCL "
    "for Intel",
    "ROCm": "the Vulkan build",
    "CUDA": "the Vulkan build",
}


@dataclass(frozen=True, slots=True)
class _Read:
    run: BenchRun
    per_s: float  # bytes


def check(evidence: Evidence) -> Finding | None:
    """Find a model that reads much more slowly than another on the same device."""
    beside = _two_backends(evidence)
    reads = _reads(evidence)
    if beside is not None or len(reads) < 2:
        return beside
    best = max(reads, key=lambda read: read.per_s)
    larger = [read for read in reads if _bytes(read.run) > _bytes(best.run)]
    worst = next((read for read in larger if best.per_s >= _FACTOR * read.per_s), None)
    if worst is None:
        return None
    backend = _backend(evidence, worst.run)
    other = next((text for name, text in _OTHERS.items() if name in backend), "another backend")
    return Finding(
        cause=f"{worst.run.model_name or 'This model'} reads {units.bandwidth(worst.per_s)} where "
        f"{best.run.model_name or 'a smaller one'} reaches {units.bandwidth(best.per_s)} on the "
        f"same device. All layers are on it, so the backend{_named(backend)} is the suspect.",
        cites=tuple(_cite(read) for read in (worst, best)),
        fix=Fix(
            f"Run the same benchmark, two minutes, with {other}. Keep what is faster for this "
            "model: no backend is always the faster one.",
            "llama-bench -m MODEL.gguf -p 512 -n 128 -r 5",
        ),
        proof="The intervals of the two builds lie apart, and the faster one reads near "
        f"{units.bandwidth(best.per_s)}.",
        certainty=Certainty.LIKELY,
    )


def _two_backends(evidence: Evidence) -> Finding | None:
    """Find one model, set alike, that another backend of the program runs much faster."""
    for fast, slow in rates.pairs(evidence, Test.GENERATION):
        names_both = {fast.backends, slow.backends}
        is_alike = not rates.differences(fast, slow) and fast.depth == slow.depth
        if len(names_both) < 2 or names_both & {"", "CPU"} or not is_alike:
            continue
        if fast.mean_tps < _FACTOR * slow.mean_tps or not _is_all_on_device(slow):
            continue
        return Finding(
            cause=f"The same model with the same settings is {fast.mean_tps / slow.mean_tps:.1f} "
            f"times slower with {slow.backends} than with {fast.backends}.",
            cites=(rates.cite(fast), rates.cite(slow)),
            fix=Fix(
                f"Use the {fast.backends} build for this model. Measure the other again after its "
                "next versions: no backend is always the faster one.",
                "llama-bench -m MODEL.gguf -p 512 -n 128 -r 5",
            ),
            proof="The intervals of the two builds lie apart.",
            certainty=Certainty.LIKELY,
        )
    return None


def silent(_evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    return "no model reads far fewer bytes per second than another here"


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    backends = {run.backends for run in rates.of(evidence, Test.GENERATION)} - {""}
    if len(_reads(evidence)) >= 2 or len(backends) >= 2:
        return ""
    return "the rates of two model files on the same device were not measured"


def _reads(evidence: Evidence) -> list[_Read]:
    return [
        _Read(run, _bytes(run) * run.mean_tps)
        for run in rates.of(evidence, Test.GENERATION)
        if _bytes(run) >= _SMALLEST_BYTES and _is_all_on_device(run)
        and not names.is_sparse_model(run.model_name)
    ]  # fmt: skip


def _bytes(run: BenchRun) -> int:
    return run.model_bytes or 0


def _is_all_on_device(run: BenchRun) -> bool:
    layers = rates.whole(run, "n_gpu_layers")
    return layers is not None and (layers < 0 or layers >= 99) and not run.setting("n_cpu_moe")


def _backend(evidence: Evidence, run: BenchRun) -> str:
    listed = seen.devices(evidence) or ()
    return run.backends or " ".join(device.name for device in listed)


def _named(backend: str) -> str:
    name = next((name for name in _OTHERS if name in backend), "")
    return f" ({name})" if name else ""


def _cite(read: _Read) -> Cite:
    run = read.run
    text = (
        f"generation, {run.model_name}: {units.rate(run.mean_tps)} on {units.size(_bytes(run))} = "
        f"{units.bandwidth(read.per_s)}"
    )
    return Cite(text, source=run.instrument)


RULE = Rule(
    id="slow-backend",
    title="The backend is slow for this model",
    check=check,
    silent=silent,
    needs=needs,
    rests_on_rate=True,
)
