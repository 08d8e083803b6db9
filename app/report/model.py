"""The model file of a report: what it is, whether it is whole, what its header has and lacks."""

from collections import Counter

from app.core import quants, units
from app.core.evidence import Evidence
from app.core.model import Model
from app.report.blocks import NAME_VALUE, Block, Bullets, Table

_HASH_CHARS = 16
_TOKENIZER = (
    ("chat template", "tokenizer.chat_template"),
    ("end token", "tokenizer.ggml.eos_token_id"),
    ("begin token", "tokenizer.ggml.bos_token_id"),
    ("tokenizer", "tokenizer.ggml.model"),
    ("pre-tokenizer", "tokenizer.ggml.pre"),
)


def blocks(evidence: Evidence, header_sha256: str) -> tuple[Block, ...]:
    """Return what the header says, and what is wrong with the file."""
    model = evidence.model
    if model is None:
        return ()
    found: list[Block] = [Table(NAME_VALUE, _rows(model, header_sha256))]
    if model.problems:
        found.append(Bullets(tuple(problem.text for problem in model.problems)))
    return tuple(found)


def _rows(model: Model, header_sha256: str) -> tuple[tuple[str, ...], ...]:
    n_parts = len(model.parts)
    whole = "no, see below" if model.problems else "yes, as long as its tensors say"
    rows = [
        ("File", model.name),
        ("Size", f"{units.size(model.file_bytes)} ({units.count(model.file_bytes)} bytes)"),
        ("Files", str(n_parts)),
        ("Whole", whole),
        ("Architecture", model.arch),
        ("Name", model.text("general.name", units.UNKNOWN)),
        ("Number formats", _mix(model)),
        ("Blocks", units.count(model.whole("block_count"))),
        ("Trained context", units.count(model.whole("context_length"))),
        ("Width", units.count(model.whole("embedding_length"))),
        (
            "Heads, of them for keys and values",
            f"{units.count(model.whole('attention.head_count'))}, "
            f"{units.count(model.whole('attention.head_count_kv'))}",
        ),
    ]
    if header_sha256:
        rows.insert(2, ("SHA-256 of the header", f"{header_sha256[:_HASH_CHARS]}…"))
    experts = model.whole("expert_count")
    if experts:
        used = units.count(model.whole("expert_used_count"))
        rows.append(("Experts", f"{units.count(experts)}, {used} used for each token"))
    there = [word for word, key in _TOKENIZER if key in model.keys]
    lacks = [word for word, key in _TOKENIZER if key not in model.keys]
    rows.append(("In the header", ", ".join(there) or "none of the tokenizer's keys"))
    if lacks:
        rows.append(("Not in the header", ", ".join(lacks)))
    return tuple(rows)


def _mix(model: Model) -> str:
    """Return the tensor types by their bytes, the largest first."""
    sums: Counter[str] = Counter()
    for tensor in model.tensors:
        if quants.is_known(tensor.type_id):
            sums[quants.name_of(tensor.type_id)] += tensor.n_bytes
    total = sum(sums.values())
    if not total:
        return units.UNKNOWN
    return ", ".join(
        f"{name} {units.percent(n_bytes / total, 0)}" for name, n_bytes in sums.most_common()
    )
