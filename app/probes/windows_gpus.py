"""Graphics cards of other makers on Windows, from the registry; NVIDIA's have their own probe."""

from app.core import facts
from app.core.host import Host, ListedGpu
from app.core.machine import MachineFact
from app.core.probe import Probe
from app.core.reading import State

_SOURCE = "registry, class of display adapters"
# not cards: Windows' own driver, and screens of remote sessions and of virtual machines
_NOT_CARDS = ("microsoft", "remote", "virtual", "vmware", "parsec", "citrix", "nvidia")


def read(host: Host) -> tuple[MachineFact, ...]:
    """Return the facts of the cards, or windows.search with the reason for none."""
    if host.platform() != "win32":
        return ()
    listed = host.basics().gpus
    if listed is None:
        reason = "the registry could not be read"
        return (facts.searched("windows", State.MISSING, source=_SOURCE, reason=reason),)
    cards = [gpu for gpu in listed if not any(word in gpu.name.lower() for word in _NOT_CARDS)]
    if not cards:
        reason = "the registry lists no card of AMD, Intel or others"
        return (facts.searched("windows", State.ABSENT, source=_SOURCE, reason=reason),)
    return tuple(fact for i, gpu in enumerate(cards) for fact in _card(gpu, f"gpu.{i}"))


def _card(gpu: ListedGpu, prefix: str) -> tuple[MachineFact, ...]:
    found = [facts.known(f"{prefix}.name", gpu.name[:200], source=_SOURCE)]
    if gpu.driver:
        found.append(facts.known(f"{prefix}.driver", gpu.driver[:60], source=_SOURCE))
    path, source = f"{prefix}.memory_total", f"{_SOURCE}, qwMemorySize"
    if gpu.memory_bytes is not None:
        found.append(facts.known(path, gpu.memory_bytes, source=source, unit="bytes"))
    else:
        reason = "its driver did not write it"
        found.append(
            facts.missing(path, State.UNSUPPORTED, source=source, reason=reason, unit="bytes")
        )
    reason = "the registry does not tell it; the device list of llama.cpp does"
    found.append(
        facts.missing(
            f"{prefix}.memory_free", State.UNSUPPORTED, source=_SOURCE, reason=reason, unit="bytes"
        )
    )
    return tuple(found)


PROBE = Probe("Windows graphics cards", read)
