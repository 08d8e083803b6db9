"""The file names no end token, or a wrong one, so answers do not stop.

What: the program writes until the model gives a token that ends a text. Without the key it takes
a default of the tokenizer's kind, which need not be this model's.
Evidence: a short answer that did not end by itself, and a header without the key, or the program's
line that the end token is not among those that end a text. That line alone is harmless: the
program then adds the token by itself.
Arithmetic: none.
Fix: a newer conversion; meanwhile a stop string. Proof: a short answer ends by itself.
Sources: llama_vocab::impl::load in llama.cpp src/llama-vocab.cpp, build 11434; advice.md part 3
row "End token missing or wrong"; users.md row 5.
"""

from app.core.evidence import Evidence
from app.core.log import Fact, LogEvent
from app.core.rule import Certainty, Cite, Finding, Fix, Rule
from app.rules import seen, texts

_WORDS = "special_eos_id is not in special_eog_ids"


def check(evidence: Evidence) -> Finding | None:
    """Find an answer without an end, and a file that does not say what ends one."""
    answer, line = texts.wrong(evidence), _line(evidence)
    is_lost = _is_lost(evidence)
    if answer is not None and answer.has_ended is not False:
        return None
    certainty = texts.certainty(evidence)
    if certainty is None or not (is_lost or line is not None):
        return None
    said = () if line is None else (seen.cite(line),)
    lost = (Cite(f"{texts.END_TOKEN} is missing", source=texts.HEADER),) if is_lost else ()
    return Finding(
        cause="The file does not name the token that ends a text, so answers may not stop."
        if is_lost
        else "The file's end token is not one that ends a text, so answers may not stop.",
        cites=(*texts.cites(evidence), *lost, *said),
        fix=Fix(
            "Get a newer GGUF of this model: its conversion lost the end token. Until then give "
            "your program a stop string: the word with which the template ends a turn."
        ),
        proof="A short answer ends by itself.",
        certainty=certainty if is_lost else Certainty.NOT_PROVEN,
    )


def silent(evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    if texts.is_clean(evidence):
        return "a short answer ended by itself"
    return "the header names an end token"


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    if evidence.model is None and _line(evidence) is None:
        return "no model file"
    return texts.NOT_TRIED if _is_lost(evidence) and not evidence.text_checks else ""


def _is_lost(evidence: Evidence) -> bool:
    model = evidence.model
    return model is not None and texts.answers(model) and texts.END_TOKEN not in model.keys


def _line(evidence: Evidence) -> LogEvent | None:
    lines = evidence.log.all(Fact.HARMLESS) if evidence.log is not None else ()
    return next((line for line in lines if _WORDS in line.text), None)


RULE = Rule(
    id="end-token-missing",
    title="The file has no end token",
    check=check,
    silent=silent,
    needs=needs,
)
