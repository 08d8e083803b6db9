"""No chat template, or a wrong one: the question reaches the model in a form that it never saw.

What: without a template llama-server takes ChatML, without a word; a template that it cannot read
it replaces by ChatML as well. Another one may have been given by hand.
Evidence: the program's own line that it falls back; or a wrong answer, or one that shows words of
a template, beside a header without one.
Arithmetic: none.
Fix: the program cannot read the template: a newer program. There is none: the file from the model's
maker, or its template given by hand. A base model has none to give.
Proof: the template is in the header or the log, and a short answer ends by itself.
Sources: common/chat.cpp in llama.cpp, build 11434; advice.md claims 84 and 85, part 3 row "Template
missing or wrong"; logs.md section 4.3; users.md row 5.
"""

from app.core.evidence import Evidence
from app.core.log import Fact, LogEvent
from app.core.rule import Certainty, Cite, Finding, Fix, Rule
from app.rules import seen, texts

_FALLBACK = ("chatml", "template parsing error")
_GIVEN = "template"  # the setting of a text check that names a template given by hand
_FIXES = {
    "ollama": "Get the model from its maker's page, or give the TEMPLATE of its maker in the "
    "Modelfile.",
    "lm-studio": "Get the GGUF file from the model's maker, or choose the right Prompt Template in "
    "the model's defaults.",
}
_FIX = (
    "Get the GGUF file from the model's maker: it has the template. Or give its template with "
    "--chat-template-file."
)

_UPDATE = (
    "Update the program: newer builds read more templates. Until then give it a template that it "
    "knows, the one of this model's family."
)


def check(evidence: Evidence) -> Finding | None:
    """Find a fallback to ChatML, or wrong text beside a header without a template."""
    line = _fallback(evidence)
    if line is not None:
        return _finding(
            evidence,
            "The program cannot use the chat template of this file, and takes ChatML instead. "
            "Text is then often wrong or does not stop.",
            (seen.cite(line), *texts.cites(evidence)),
            Certainty.LIKELY,
            _UPDATE,
        )
    certainty = texts.certainty(evidence)
    if certainty is None:
        return None
    given = _given(evidence)
    if given:
        cause = f"The template “{given}” was given by hand, and the answer is wrong with it."
        return _finding(evidence, cause, texts.cites(evidence), certainty)
    answer = texts.wrong(evidence)
    if _lacks(evidence) or (answer is not None and answer.leaked and not _is_base(evidence)):
        cause = (
            "The file has no chat template, so the program guesses one."
            if _lacks(evidence)
            else "Words of a template stand in the answer, so it is not the model's own."
        )
        missing = (Cite(f"{texts.TEMPLATE} is missing", source=texts.HEADER),)
        return _finding(
            evidence,
            f"{cause} Text is then often wrong or does not stop.",
            (*texts.cites(evidence), *(missing if _lacks(evidence) else ())),
            certainty,
        )
    return None


def silent(evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    if evidence.model is not None and texts.TEMPLATE in evidence.model.keys:
        return "the header has a chat template"
    if texts.is_clean(evidence):
        return "a short answer could be read and ended by itself"
    return "the file is no chat model, see there"


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    if evidence.model is None:
        return "no model file"
    return texts.NOT_TRIED if _lacks(evidence) and not evidence.text_checks else ""


def _finding(
    evidence: Evidence,
    cause: str,
    cites: tuple[Cite, ...],
    certainty: Certainty,
    fix: str = "",
) -> Finding:
    fix = fix or _FIXES.get(seen.runtime(evidence), _FIX)
    if _given(evidence):
        fix = "Remove the template that was given by hand: the file brings its own."
    return Finding(
        cause=cause,
        cites=cites,
        fix=Fix(fix),
        proof="The template is in the header or the log, and a short answer ends by itself.",
        certainty=certainty,
    )


def _fallback(evidence: Evidence) -> LogEvent | None:
    lines = evidence.log.all(Fact.QUALITY_WARNING) if evidence.log is not None else ()
    return next((line for line in lines if any(word in line.text for word in _FALLBACK)), None)


def _given(evidence: Evidence) -> str:
    answer = texts.wrong(evidence)
    has_own = evidence.model is not None and texts.TEMPLATE in evidence.model.keys
    return dict(answer.settings).get(_GIVEN, "") if answer is not None and has_own else ""


def _is_base(evidence: Evidence) -> bool:
    """Tell whether the file is a base model's: the program guesses a template, and it leaks."""
    model = evidence.model
    return model is not None and texts.TEMPLATE not in model.keys and texts.is_base(model)


def _lacks(evidence: Evidence) -> bool:
    """Tell whether a chat model's header has no template; base models have a rule of their own."""
    model = evidence.model
    if model is None or not texts.answers(model) or texts.TEMPLATE in model.keys:
        return False
    return not texts.is_base(model)


RULE = Rule(
    id="template-missing",
    title="The chat template is missing or wrong",
    check=check,
    silent=silent,
    needs=needs,
)
