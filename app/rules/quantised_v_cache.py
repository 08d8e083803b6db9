"""The text is nonsense only while the V cache is quantised: a fault of this build.

What: some builds compute attention over a quantised V cache wrongly on some models.
Evidence: two short answers at temperature 0: unreadable with the quantised V cache, readable with
f16. A quantised K alone does no harm.
Arithmetic: none.
Fix: the default cache types; then another build.
Proof: the answer is readable.
Sources: llama.cpp issue 23689 (b9310 to 9333); users.md rows 5 and 16.
"""

from app.core.evidence import Evidence, TextCheck
from app.core.rule import Certainty, Cite, Finding, Rule
from app.rules import command

_PLAIN = ("f16", "bf16", "f32")


def check(evidence: Evidence) -> Finding | None:
    """Find answers that are unreadable only with a quantised V cache."""
    bad = next((c for c in evidence.text_checks if not c.is_readable and not _is_plain(c)), None)
    good = next((c for c in evidence.text_checks if c.is_readable and _is_plain(c)), None)
    if bad is None or good is None:
        return None
    if any(not c.is_readable and _is_plain(c) for c in evidence.text_checks):
        return None
    return Finding(
        cause=f"The text is wrong only while the V cache is {_type(bad)}; with {_type(good)} it is "
        "right. That is a fault of this build of the program.",
        cites=(_cite(bad, "unreadable"), _cite(good, "readable")),
        fix=command.fix(
            evidence,
            "Run it again with the default types of the KV cache (f16). Then update the program; "
            "a quantised K alone may stay.",
            cache_type_v="f16",
        ),
        proof="A short answer at temperature 0 can be read.",
        certainty=Certainty.PROVEN,
    )


def silent(_evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    return "the text does not depend on the type of the V cache"


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    return "" if len(evidence.text_checks) >= 2 else "the text was not checked with two cache types"


def _type(check_: TextCheck) -> str:
    return dict(check_.settings).get("type_v", "f16")


def _is_plain(check_: TextCheck) -> bool:
    return _type(check_) in _PLAIN


def _cite(check_: TextCheck, state: str) -> Cite:
    return Cite(f"V cache {_type(check_)}: {state}", source=check_.source or "text check")


RULE = Rule(
    id="quantised-v-cache",
    title="A quantised V cache spoils the text",
    check=check,
    silent=silent,
    needs=needs,
)
