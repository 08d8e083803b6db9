"""Popular advice that does not help this load, each with the reason (advice.md part 1)."""

from collections.abc import Callable
from dataclasses import dataclass

from app.core.evidence import Evidence
from app.core.forecast import Forecast
from app.core.machine import DeviceKind

_LAST_WITH_MLOCK = 10434  # both flags work there and are refused by 11434 (advice.md claim 46)


@dataclass(frozen=True, slots=True)
class Folklore:
    """One advice as people give it, and why it is not given here; claim is advice.md's number."""

    claim: int
    advice: str
    why: str


def _always(_evidence: Evidence, _found: Forecast) -> bool:
    return True


def _all_on_device(_evidence: Evidence, found: Forecast) -> bool:
    return found.f is not None and found.f < 0.01


def _on_host(evidence: Evidence, found: Forecast) -> bool:
    return not _all_on_device(evidence, found)


def _has_devices(evidence: Evidence, _found: Forecast) -> bool:
    return bool(evidence.machine is not None and evidence.machine.devices)


def _has_several(evidence: Evidence, _found: Forecast) -> bool:
    return evidence.machine is not None and len(evidence.machine.devices) > 1


def _has_cuda(evidence: Evidence, _found: Forecast) -> bool:
    return DeviceKind.CUDA in _kinds(evidence)


def _has_amd(evidence: Evidence, _found: Forecast) -> bool:
    names = " ".join(_descriptions(evidence)).lower()
    return DeviceKind.ROCM in _kinds(evidence) or "radeon" in names or "amd" in names


def _has_metal(evidence: Evidence, _found: Forecast) -> bool:
    return DeviceKind.METAL in _kinds(evidence)


def _has_former_load_flags(evidence: Evidence, _found: Forecast) -> bool:
    build = _build(evidence)
    return build is not None and build <= _LAST_WITH_MLOCK


def _has_load_modes(evidence: Evidence, found: Forecast) -> bool:
    return not _has_former_load_flags(evidence, found)


def _has_mixed_cache(evidence: Evidence, _found: Forecast) -> bool:
    request = evidence.request
    return request is not None and request.cache_type_k != request.cache_type_v


def _kinds(evidence: Evidence) -> tuple[DeviceKind, ...]:
    return tuple(d.kind for d in evidence.machine.devices) if evidence.machine else ()


def _descriptions(evidence: Evidence) -> tuple[str, ...]:
    return tuple(d.description for d in evidence.machine.devices) if evidence.machine else ()


def _build(evidence: Evidence) -> int | None:
    """Return llama.cpp's build: the one of the log, else of the first runtime that tells it."""
    story = evidence.log.load if evidence.log else None
    if story is not None and story.build is not None:
        return story.build
    runtimes = evidence.machine.runtimes if evidence.machine else ()
    return next((r.build for r in runtimes if r.build is not None), None)


_KNOWN: tuple[tuple[Callable[[Evidence, Forecast], bool], Folklore], ...] = (
    (_has_devices, Folklore(
        1, "Always set -ngl 99",
        "The program places what fits by itself since winter 2025/26. A number switches that off: "
        "on a card that is too small the load then fails, or spills on Windows.",
    )),
    (_always, Folklore(
        32, "Add -fa",
        "Flash attention is automatic. The option takes on, off or auto today; written bare it "
        "swallows the next word, and the program stops with an error.",
    )),
    (_always, Folklore(
        24, "Use a q4_0 cache, it costs nothing",
        "It does cost: perplexity of a 0.6B model went from 13.5 to 47.8. q8_0 is the one to try, "
        "and only where the cache takes the room of layers.",
    )),
    (_always, Folklore(
        43, "A bigger batch makes writing faster",
        "Writing reads the weights once per token, whatever the batch is. A larger -ub helps "
        "prompts while weights are on the host.",
    )),
    (_has_load_modes, Folklore(
        46, "Add --mlock or --no-mmap",
        "Newer llama.cpp has neither and does not start with them (--load-mode replaced them). "
        "Locking stops eviction, it does not make writing faster.",
    )),
    (_has_former_load_flags, Folklore(
        44, "Add --mlock or --no-mmap",
        "Your build still knows them, newer ones end at start (--load-mode replaced them). They "
        "do not make writing faster: 22.7 against 23.0 tok/s. Locking only stops eviction, and "
        "takes memory from everything else.",
    )),
    (_always, Folklore(
        34, "Flash attention on, always",
        "Automatic is right. It brought 2 to 3 % while writing in a test, and made prompts slower "
        "on some processors and Vulkan drivers.",
    )),
    (_has_devices, Folklore(
        10, "Add --kv-offload to move the cache to system memory",
        "It does the opposite: it keeps the cache on the device, which is the default. -nkvo moves "
        "it out, and each token then reads the whole cache from system memory.",
    )),
    (_has_devices, Folklore(
        60, "Leave 20 % of the card free",
        "llama.cpp leaves 1024 MiB per device, and drivers start to spill below about 0.7 GB. A "
        "fifth of a large card is layers given away.",
    )),
    (_has_devices, Folklore(
        20, "Cut the context, the cache grows while you chat",
        "llama.cpp and what is built on it allocate the whole cache at the load. What grows is the "
        "prompt cache in system memory (-cram), or another program.",
    )),
    (_has_cuda, Folklore(
        100, "Set GGML_CUDA_ENABLE_UNIFIED_MEMORY=1 against running out of memory",
        "It hides that memory is short: the driver then moves pages over the bus, for every token. "
        "It slows cards with memory of their own.",
    )),
    (_has_mixed_cache, Folklore(
        26, "K as q8_0, V as q4_0 is the best of both",
        "On CUDA and ROCm builds of 2026 up to September, different types move the attention to "
        "the processor without a line in the log. Newer builds convert them and warn.",
    )),
    (_has_amd, Folklore(
        50, "Set HSA_OVERRIDE_GFX_VERSION",
        "It is for chips without kernels of their own, on Linux. On others it does nothing, and a "
        "wrong value crashes.",
    )),
    (_has_amd, Folklore(
        52, "Skip ROCm, Vulkan is 4 times faster",
        "Neither always is. Measure both with the same benchmark, and keep the one whose interval "
        "lies above.",
    )),
    (_has_metal, Folklore(
        55, "Set MLX_NUM_THREADS",
        "It is not known to MLX, and the work is done by the GPU.",
    )),
    (_has_several, Folklore(
        65, "Add -sm row for several cards",
        "It cuts matrices, is out of date, and some backends refuse it. Layer split is the "
        "default.",
    )),
    (_has_several, Folklore(
        71, "Two cards must be faster than one, else the link is broken",
        "Layer split lets the cards work one after the other: it brings room, not speed.",
    )),
    (_has_cuda, Folklore(
        72, "Start NVIDIA MPS",
        "It shares a card between several programs. For one user it does nothing.",
    )),
    (_on_host, Folklore(
        36, "Set threads to all logical processors",
        "More threads than cores wait for each other: four on two took writing from 42 to 24 "
        "tokens per second in a test. The default is the number of physical cores.",
    )),
    (_all_on_device, Folklore(
        69, "A faster PCIe slot",
        "With all layers on one card nothing crosses the bus while it writes. It matters for "
        "loading and for prompts with weights on the host.",
    )),
    (_all_on_device, Folklore(
        41, "Faster system memory",
        "All layers are on the device, so no token waits for system memory.",
    )),
    (_always, Folklore(
        81, "Speculative decoding makes it 2 to 3 times faster",
        "It depends on how many guesses are accepted. With layers on the host it was slower in "
        "reports. Measure it on and off.",
    )),
    (_always, Folklore(
        74, "Switch from GGUF to EXL2",
        "Published differences are 1.2 to 1.35 times on one card, not 2 to 3, and it needs the "
        "whole model on NVIDIA cards.",
    )),
)  # fmt: skip


def folklore(evidence: Evidence, found: Forecast) -> tuple[Folklore, ...]:
    """Return what people advise for such a load and what is not so."""
    return tuple(advice for applies, advice in _KNOWN if applies(evidence, found))
