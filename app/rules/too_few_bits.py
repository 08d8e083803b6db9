"""The weights have fewer than about three bits each, and the text is wrong.

What: below about three bits the harm grows fast; models that were made for it are the exception.
Evidence: a short answer that is wrong, and the header's bits per weight of the blocks. A mixture
of many experts may be made so: then it is only possible, as where no answer was tried.
Arithmetic: bits of all tensors of the blocks over their values.
Fix: the next quantisation that fits (IQ3, Q4). Proof: a short answer can be read.
Sources: advice.md claims 63 and 84, part 3 row "Below about 3 bits"; users.md row 5.
"""

from app.core import quants
from app.core.evidence import Evidence
from app.core.model import Model
from app.core.rule import Certainty, Cite, Finding, Fix, Rule
from app.rules import texts

LEAST_BITS = 3.0


def check(evidence: Evidence) -> Finding | None:
    """Find wrong text of a model with very few bits."""
    bits = _bits(evidence.model)
    certainty = texts.certainty(evidence)
    if bits is None or bits >= LEAST_BITS or certainty is None:
        return None
    is_sparse = evidence.model is not None and bool(evidence.model.whole("expert_count"))
    return Finding(
        cause=f"The blocks of this file have {bits:.2f} bits per weight. Below about three the "
        "text often suffers"
        + (", though some mixtures of experts are made for it." if is_sparse else "."),
        cites=(
            *texts.cites(evidence),
            Cite(f"{bits:.2f} bits per weight in the blocks", source=texts.HEADER),
        ),
        fix=Fix("Take the next larger quantisation that fits: IQ3 first, then Q4_K_M."),
        proof="A short answer at temperature 0 can be read and ends by itself.",
        certainty=Certainty.NOT_PROVEN if is_sparse else certainty,
    )


def silent(evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    bits = _bits(evidence.model)
    if bits is not None and bits >= LEAST_BITS:
        return f"the blocks have {bits:.2f} bits per weight"
    return "a short answer could be read and ended by itself"


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    bits = _bits(evidence.model)
    if bits is None:
        return "no model file with its tensors"
    return texts.NOT_TRIED if bits < LEAST_BITS and not evidence.text_checks else ""


def _bits(model: Model | None) -> float | None:
    """Return the bits per weight of the blocks' tensors; None = there are none."""
    tensors = model.tensors if model is not None else ()
    found = [t for t in tensors if t.block is not None and quants.is_known(t.type_id)]
    values = sum(tensor.n_values for tensor in found)
    return 8 * sum(tensor.n_bytes for tensor in found) / values if values else None


RULE = Rule(
    id="too-few-bits",
    title="Too few bits per weight",
    check=check,
    silent=silent,
    needs=needs,
)
