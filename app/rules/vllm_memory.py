"""vLLM does not start, because the memory left after the weights does not suffice.

What: vLLM reserves a share of the card at start; what the weights and one forward pass leave is
the KV cache, and it must hold at least one request of full length.
Evidence: its own message: the length is larger than the cache, there is no cache at all, or less
is free than its share.
Arithmetic: the tokens that fit, rounded down to whole steps of 256.
Fix: what the message names: a shorter length; a larger share; a smaller share, or a free card.
Proof: the start ends, and the line GPU KV cache size holds the length.
Sources: vllm/v1/core/kv_cache_utils.py and worker/gpu_worker.py; logs.md section 5; advice.md
part 3, the vLLM rows; vLLM issue 2418.
"""

from app.core import units
from app.core.evidence import Evidence
from app.core.log import Fact, LogEvent
from app.core.rule import Finding, Fix, Rule
from app.rules import seen

_STEP = 256  # tokens; a round figure below what fits
_SMALLEST_SHARE = 0.1


def check(evidence: Evidence) -> Finding | None:
    """Find vLLM's message about memory."""
    line = evidence.log.last(Fact.VLLM_MEMORY) if evidence.log else None
    if line is None:
        return None
    kind = line.word("kind")
    if kind == "length":
        return _length(line)
    return _no_space(line) if kind == "no-space" else _share(line)


def silent(_evidence: Evidence) -> str:
    """Say nothing: only vLLM prints its messages."""
    return ""


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    return "" if evidence.log is not None else "no log of a start"


def _length(line: LogEvent) -> Finding:
    asked, stored = line.whole("asked"), line.whole("stored")
    # the newer message gives the length that vLLM has tried to fit, the older one only cells
    is_tried = "estimated maximum model length" in line.text
    wanted = stored if is_tried else stored // _STEP * _STEP or stored
    return Finding(
        cause=f"The KV cache holds {units.count(stored)} tokens, less than one request of the "
        f"length that is asked for ({units.count(asked)}).",
        cites=(seen.cite(line),),
        fix=Fix(
            f"Set the model length to {units.count(wanted)}, which fits. If nothing else uses the "
            "card, a larger --gpu-memory-utilization is the second way.",
            f"--max-model-len {wanted}",
        ),
        proof="The start ends without this error.",
        title="The KV cache is smaller than one request",
    )


def _no_space(line: LogEvent) -> Finding:
    return Finding(
        cause="After the weights and one forward pass nothing is left for the KV cache.",
        cites=(seen.cite(line),),
        fix=Fix(
            "Raise --gpu-memory-utilization (0.92 by itself), if other programs leave the card to "
            "it. Else take a smaller quantisation of the model.",
            "--gpu-memory-utilization 0.96",
        ),
        proof="The line “GPU KV cache size” is there.",
        title="No memory is left for the KV cache",
    )


def _share(line: LogEvent) -> Finding:
    free, total = line.number("free"), line.number("total")
    share = max(_SMALLEST_SHARE, int(free / total * 100) / 100) if total else _SMALLEST_SHARE
    return Finding(
        cause=f"Only {free:g} of {total:g} GiB are free on the card, and vLLM was to take more. "
        "Often an older process of its own still runs.",
        cites=(seen.cite(line),),
        fix=Fix(
            "End what holds the card's memory (nvidia-smi lists it). If it must stay, lower the "
            "share to what is free.",
            f"--gpu-memory-utilization {share:g}",
        ),
        proof="The start ends without this error.",
        title="Less memory is free than vLLM's share",
    )


RULE = Rule(
    id="vllm-memory",
    title="The memory does not suffice for vLLM",
    check=check,
    silent=silent,
    needs=needs,
)
