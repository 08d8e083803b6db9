"""Layers not offloaded: part of the layers is computed from system memory because it was asked.

What: a number of layers was given that is below the model's, and llama.cpp kept to it.
Evidence: the line "offloaded N/M" with N below M, no fit decision that moved layers, and the
buffer lines: weights on a device and on the host. The line counts what was asked, the buffers
what happened, so both are cited.
Arithmetic: M - N layers on the host; each reads its bytes from system memory for each token.
Fix: remove the number, so that the program places what fits. Not on a device that works in system
memory (r below about 2.5): there both ends must be measured. Not when no more layer fits.
Proof: the host model buffer falls to the embedding, the line says M/M.
Sources: load_tensors in llama.cpp src/llama-model.cpp, build 11434; slowdown.md sections 1 and 7;
advice.md claims 1 and 3; tests/data/logs/b10434-vulkan-partial-ngl9-lv4.log.
"""

from app.core import units
from app.core.evidence import Evidence
from app.core.log import BufferKind, Fact, LoadStory, Role
from app.core.rule import Certainty, Finding, Fix, Rule
from app.rules import command, room, seen

# llama.cpp places what fits by itself from here on (common_fit_params, winter 2025/26): b7079 of
# 2025-11 has no fit line, b8672 of 2026-04 has
_FIRST_FIT_BUILD, _FIRST_FIT_MONTH = 8000, "2025-12"


def check(evidence: Evidence) -> Finding | None:
    """Find fewer layers on the device than the model has, by request."""
    story = seen.load(evidence)
    claim = story.event(Fact.OFFLOADED) if story else None
    if story is None or claim is None or story.offload_line is None:
        return None
    n, m = story.offload_line
    if n >= m or story.weights_on_device is False or seen.moved_by_fit(story):
        return None
    on_host = seen.buffers(story, BufferKind.HOST, Role.WEIGHTS)
    on_device = seen.buffers(story, BufferKind.DEVICE, Role.WEIGHTS)
    sizes = (
        f" {units.mib(sum(b.n_bytes for b in on_device))} of weights are on the device."
        if on_device
        else ""
    )
    return Finding(
        cause=f"{n} of {m} layers are on the device. The other {m - n} are computed from system "
        f"memory, which is slower: the device is done first and waits.{sizes}{_share(story)}",
        cites=(seen.cite(claim), *seen.cite_buffers(evidence, (*on_device, *on_host))),
        fix=_fix(evidence, story),
        proof=_proof(evidence, m),
        certainty=Certainty.PROVEN if story.weights_on_device else Certainty.LIKELY,
        title="" if _is_asked(evidence, story) else "Part of the layers is not on the device",
    )


def silent(evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    story = seen.load(evidence)
    if story is None or story.offload_line is None:
        return "no layers were meant for a device"
    n, m = story.offload_line
    if n < m and seen.moved_by_fit(story):
        return "the layers were moved by the automatic fit, not by request"
    if not story.weights_on_device:
        return "nothing is on a device, so no part of it is missing"
    return f"{n} of {m} layers were asked for, and weights are on the device"


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    return seen.placement_missing(evidence)


def _fix(evidence: Evidence, story: LoadStory) -> Fix:
    assert story.offload_line is not None
    n, m = story.offload_line
    if seen.shares_system_memory(evidence):
        return Fix(
            "Measure both ends, nothing and everything on the device, and keep the faster one. "
            "This device works in system memory: a part on it is often slower than either end.",
            command.bench_ends(evidence),
        )
    if room.fits(evidence, n + 1) is False:
        return command.fix(
            evidence,
            "Make room first: not one more layer fits. A shorter context frees memory on the "
            "device, and the automatic fit then uses it.",
            ngl=None,
            ctx=_shorter(story),
        )
    if not _is_asked(evidence, story):
        return command.fix(
            evidence,
            f"Make room for the other {m - n} layers{_room(story)}: use a shorter context first. "
            "If you set the number of layers yourself, remove it (-ngl; in Ollama num_gpu).",
            ngl=None,
        )
    if seen.is_older(evidence, _FIRST_FIT_BUILD, _FIRST_FIT_MONTH):
        return command.fix(
            evidence,
            f"Ask for all {m} layers. If the load then fails, go down until it does not.",
            ngl=m,
        )
    return command.fix(
        evidence,
        "Remove -ngl (or LLAMA_ARG_N_GPU_LAYERS). The program then puts as many layers on the "
        "device as fit.",
        ngl=None,
    )


def _share(story: LoadStory) -> str:
    """Say the host's share of the weights, an upper bound: the embedding is not read whole."""
    on_host = story.bytes_of(BufferKind.HOST, Role.WEIGHTS)
    total = on_host + story.bytes_of(BufferKind.DEVICE, Role.WEIGHTS)
    if not total or not on_host:
        return ""
    return f" The host reads a share of at most f = {on_host / total:.2f} of the weights."


def _room(story: LoadStory) -> str:
    on_host = story.bytes_of(BufferKind.HOST, Role.WEIGHTS)
    return f" (at most {units.size(on_host)})" if on_host else ""


def _is_asked(evidence: Evidence, story: LoadStory) -> bool:
    """Tell whether it is known that the number was set: by the command, or by what the fit says."""
    if evidence.request is not None:
        return evidence.request.ngl is not None
    said = (Fact.FIT_FAILED, Fact.FIT_ENOUGH)
    return any(story.event(fact) is not None for fact in said)


def _proof(evidence: Evidence, m: int) -> str:
    if seen.shares_system_memory(evidence):
        return "One end is faster, by intervals that do not touch."
    return (
        f"The line says “offloaded {m}/{m} layers”, and the weights in system memory fall to the "
        "embedding."
    )


def _shorter(story: LoadStory) -> int | None:
    if story.n_ctx is None:
        return None
    return max(256, story.n_ctx // 2 // 256 * 256)


RULE = Rule(
    id="layers-not-offloaded",
    title="Layers are not on the device, by request",
    check=check,
    silent=silent,
    needs=needs,
)
