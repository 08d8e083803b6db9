"""Popular advice that does not help this load, each with the reason (advice.md part 1)."""

from collections.abc import Callable
from dataclasses import dataclass

from app.core.evidence import Evidence
from app.core.forecast import Forecast


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
    (_always, Folklore(
        46, "Add --mlock or --no-mmap",
        "Newer llama.cpp has neither and does not start with them (--load-mode replaced them). "
        "Locking stops eviction, it does not make writing faster.",
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
