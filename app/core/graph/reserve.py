"""The compute buffers of a load: the worst-case graph, split and allocated (graph_reserve, 11434).

Blocks that are alike and lie alike need one and the same memory, so of a long run only the first
ones are built; the sizes do not change (tests compare both).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from app.core.eras import Change
from app.core.graph import gemma, hybrid, latent, plain, relatives
from app.core.graph.alloc import Arena, allocate
from app.core.graph.devices import backends_of, copied_from
from app.core.graph.lookup import Shelf, few
from app.core.graph.net import Batch, Homes, Net
from app.core.graph.split import Backend, Scheduler
from app.core.machine import Device, DeviceKind
from app.core.shape import Shape
from app.core.stow import Stowed

_MOST_INPUTS = 30  # GGML_SCHED_MAX_SPLIT_INPUTS of earlier builds
_BOUND_BELOW = 32  # tokens; norms are then bound to their layer (llama_context::graph_get_cb)

_BUILDERS: Mapping[str, Callable[[Net], None]] = {
    "llama": plain.llama,
    "qwen2": plain.llama,
    "qwen3": plain.llama,
    "qwen3moe": plain.llama,
    "phi3": plain.phi3,
    "phimoe": plain.phi3,
    "gemma2": plain.gemma3,
    "gemma3": plain.gemma3,
    "gpt-oss": plain.gpt_oss,
    "gemma3n": gemma.gemma3n,
    "gemma4": gemma.gemma4,
    "deepseek2": latent.deepseek2,
    "mamba": hybrid.mamba,
    "mamba2": hybrid.mamba,
    "granitehybrid": hybrid.granite,
    "falcon-h1": hybrid.falcon_h1,
    "jamba": hybrid.jamba,
    "nemotron_h": hybrid.nemotron,
    "nemotron_h_moe": hybrid.nemotron,
    "lfm2": hybrid.lfm2,
    "lfm2moe": hybrid.lfm2,
    "qwen3next": hybrid.qwen_next,
    "qwen35": hybrid.qwen_next,
    "qwen35moe": hybrid.qwen_next,
    **dict.fromkeys(relatives.ARCHITECTURES, relatives.relative),
}


@dataclass(frozen=True, slots=True)
class Job:
    """All that the graph of one load follows from."""

    shape: Shape
    homes: Homes
    stowed: Sequence[Stowed]
    devices: tuple[Device, ...]
    op_offload: bool
    is_pipelined: bool
    is_auto: bool  # flash attention "auto": it is looked at whether it stays on
    is_dry: bool  # a dry pass: nothing is bound, and only the first graph is measured


@dataclass(frozen=True, slots=True)
class Reserved:
    """The bytes of each compute buffer, the processor's last, and whether flash attention is on."""

    n_bytes: tuple[int, ...]
    flash_attn: bool


@dataclass(frozen=True, slots=True)
class _Question:
    """A job and what its answer depends on: loads that differ in nothing else share it."""

    key: tuple[object, ...]
    batch: Batch
    job: Job = field(compare=False)
    shelf: Shelf = field(compare=False)
    blocks: tuple[int, ...] = field(compare=False)


def is_known(arch: str) -> bool:
    """Tell whether the graph of an architecture is built here."""
    return arch in _BUILDERS


def reserve(
    job: Job, batches: Sequence[Batch], *, keeps_all: bool = False
) -> tuple[Reserved, ...] | None:
    """Return the compute buffers for each kind of batch; None when a weight is not as expected.

    keeps_all builds every block, which is slower and gives the same.
    """
    shelf = Shelf(job.shape, job.homes, job.stowed)
    signatures = shelf.signatures
    blocks = tuple(range(job.shape.n_layer)) if keeps_all else few(signatures)
    key = (
        job.shape.arch, job.shape.traits, job.shape.n_embd, job.homes.cpu,
        job.homes.cache_on_cpu, job.homes.binds_norms, job.devices, job.op_offload,
        job.is_pipelined, job.is_auto, job.is_dry, tuple(signatures[i] for i in blocks),
        shelf.others, keeps_all,
    )  # fmt: skip
    found = [_answer(_Question(key, batch, job, shelf, blocks)) for batch in batches]
    known = tuple(one for one in found if one is not None)
    return known if len(known) == len(found) else None


@lru_cache(maxsize=128)
def _answer(question: _Question) -> Reserved | None:
    job = question.job
    try:
        flash = question.batch.flash_attn and not (job.is_auto and _loses_flash(question))
        batch = replace(question.batch, flash_attn=flash)
        n_bytes = _peaks(question, batch, is_bound=not job.is_dry)
        if not job.is_dry and any(device.kind is not DeviceKind.RPC for device in job.devices):
            # a single token leaves on the host what a batch copies to a local device
            small = replace(batch, n_tokens=batch.n_seqs, n_outputs=batch.n_seqs)
            others = _peaks(question, small, is_bound=True)
            n_bytes = tuple(max(pair) for pair in zip(n_bytes, others, strict=True))
    except (KeyError, IndexError, ZeroDivisionError):
        return None  # the header does not suit its architecture
    return Reserved(n_bytes, flash)


def _loses_flash(question: _Question) -> bool:
    """Tell whether "auto" turns it off: a node of it would not run on its layer's device.

    Looked at with one token per sequence (llama_context::resolve_fused_ops).
    """
    job = question.job
    n = question.batch.n_seqs
    net = _net(question, replace(question.batch, n_tokens=n, n_outputs=n), is_bound=True)
    _scheduler(question).plan(net.graph)
    return any(node.backend != job.homes.blocks[il] for il, node in net.fused)


def _peaks(question: _Question, batch: Batch, *, is_bound: bool) -> tuple[int, ...]:
    net = _net(question, batch, is_bound=is_bound)
    plan = _scheduler(question).plan(net.graph)
    backends = _backends(question)
    for node, backend in plan.nodes:
        alloc_bytes = backends[backend].alloc_bytes
        if alloc_bytes is not None and node.op == "FLASH_ATTN_EXT":
            node.n_bytes = alloc_bytes(node)
    arenas = [Arena(b.alignment, b.chunk_bytes) for b in backends]
    allocate(plan.nodes, plan.leafs, arenas)
    return tuple(arena.peak for arena in arenas)


def _backends(question: _Question) -> tuple[Backend, ...]:
    job = question.job
    return backends_of(job.devices, question.batch.era, op_offload=job.op_offload)


def _scheduler(question: _Question) -> Scheduler:
    has_limit = not question.batch.era.has(Change.NODES_OF_AUTUMN)
    return Scheduler(
        _backends(question),
        copied_from(),
        is_pipelined=question.job.is_pipelined,
        most_inputs=_MOST_INPUTS if has_limit else None,
    )


def _net(question: _Question, batch: Batch, *, is_bound: bool) -> Net:
    """Build the graph; a dry pass forgets what was bound (ggml_backend_sched_reserve_size)."""
    job = question.job
    homes = job.homes
    if not is_bound:
        homes = replace(homes, binds_norms=False, cache_on_cpu=False)
    elif batch.n_tokens < _BOUND_BELOW:
        homes = replace(homes, binds_norms=True)
    net = Net(job.shape, batch, homes, question.blocks, question.shelf.finder())
    _BUILDERS[job.shape.arch](net)
    return net
