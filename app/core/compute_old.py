"""What builds before June 2026 need beside the closed forms of app.core.compute.

Masks were made as F32 on the host and cast to F16 on the device (llama-graph.cpp before PR 23764),
and logits were reserved for every token of a micro-batch (before PR 23861): placement.md 10.3.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from app.core.eras import Change, Era
from app.core.spans import Compute, Span


@dataclass(frozen=True, slots=True)
class Old:
    """The terms that moved, in bytes; n_copies of the inputs where devices are pipelined."""

    e: int  # the embeddings of a micro-batch
    half_mask: int  # 0 without flash attention, which takes F32 masks in every build
    logits: int  # of every token
    is_delta: bool  # Qwen3-Next and Qwen3.5 hold two results more when the mask is cast
    n_copies: int


def older(base: Compute, old: Old, era: Era) -> Compute:
    """Return the buffers as a build of this age reserves them; base is of a build after it."""
    host, devices = base.host, base.devices
    if not era.has(Change.HALF_MASKS):
        host = _more(host, old.n_copies * old.half_mask)
    if devices and not era.has(Change.EMBEDDING_INPUT):
        host = _more(host, -old.e)
    if not era.has(Change.FEW_OUTPUTS):
        devices = tuple(_with_logits(span, old) for span in devices)
        if not devices:
            host = _with_logits(host, old)
    if not era.has(Change.HALF_MASKS):
        devices = tuple(_with_cast(span, old) for span in devices)
    return Compute(host, devices)


def widest(found: Sequence[Compute]) -> Compute:
    """Return the first with the range of all."""
    first = found[0]
    host = _union([one.host for one in found])
    spans = zip(*(one.devices for one in found), strict=True)
    return Compute(host, tuple(map(_union, spans))) if len(found) > 1 else first


def _union(spans: Sequence[Span]) -> Span:
    return Span(spans[0].n_bytes, min(span.low for span in spans), max(span.high for span in spans))


def _more(span: Span, n_bytes: int) -> Span:
    return Span(*(max(one + n_bytes, 0) for one in (span.n_bytes, span.low, span.high)))


def _with_logits(span: Span, old: Old) -> Span:
    """The output layer's result with its input; on Metal and Vulkan sometimes one result more."""
    if not span.n_bytes:
        return span
    least, most = old.logits + old.e, old.logits + 4 * old.e + old.half_mask
    return Span(max(span.n_bytes, least), max(span.low, int(0.95 * least)), max(span.high, most))


def _with_cast(span: Span, old: Old) -> Span:
    """Both masks with the results of the first attention; afterwards the F16 mask alone."""
    if not span.n_bytes:
        return span
    least = (2 * old.n_copies + 1) * old.half_mask + (6 if old.is_delta else 4) * old.e
    most = least + 4 * old.e
    return Span(max(span.n_bytes, least), max(span.low, int(0.95 * least)), max(span.high, most))
