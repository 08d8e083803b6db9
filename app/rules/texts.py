"""What several rules ask about the text: whether a short answer was wrong, and what to say then."""

from app.core.evidence import Evidence, TextCheck
from app.core.model import Model
from app.core.rule import Certainty, Cite
from app.core.symptom import Symptom

TEMPLATE = "tokenizer.chat_template"
END_TOKEN = "tokenizer.ggml.eos_token_id"
HEADER = "header of the file"
NOT_TRIED = "no short answer was tried (choose “Wrong or endless text”, then Diagnose)"
# architectures that give numbers for a text and never answer (llama-arch.cpp, build 11434)
_NEVER_ANSWER = ("bert", "t5encoder", "clip", "wavtokenizer")
# what converters write into a name when a model was trained for chats (gguf-py metadata.py)
_CHAT_WORDS = ("it", "instruct", "chat", "assistant", "sft", "dpo", "rlhf", "thinking", "coder")


def wrong(evidence: Evidence) -> TextCheck | None:
    """Return the first wrong answer; None also where another answer of the same file was right."""
    found = next((one for one in evidence.text_checks if one.is_wrong), None)
    return found if all(one.is_wrong for one in evidence.text_checks) else None


def certainty(evidence: Evidence) -> Certainty | None:
    """Return how far a fault of the text is known; None = no text is known to be wrong.

    What a user says they see orders the checks and is no evidence: it makes nothing likely.
    """
    if evidence.text_checks:
        return Certainty.LIKELY if wrong(evidence) is not None else None
    is_reported = evidence.symptom == Symptom.WRONG_TEXT.value
    return Certainty.NOT_PROVEN if is_reported else None


def cites(evidence: Evidence) -> tuple[Cite, ...]:
    """Cite the answer that was wrong."""
    answer = wrong(evidence)
    if answer is None:
        return ()
    what = [] if answer.is_readable else ["it cannot be read"]
    what += ["it did not end by itself"] if answer.has_ended is False else []
    what += [f"it shows “{answer.leaked}”, a word of the template"] if answer.leaked else []
    return (Cite(f"a short answer: {', '.join(what)}", source=answer.source or "text check"),)


def is_clean(evidence: Evidence) -> bool:
    """Tell whether an answer was tried and was right."""
    return bool(evidence.text_checks) and wrong(evidence) is None


def answers(model: Model) -> bool:
    """Tell whether a model of this architecture writes text at all."""
    return not any(word in model.arch for word in _NEVER_ANSWER)


def is_base(model: Model) -> bool:
    """Tell whether the header names a model that only continues text: nothing in it says chat.

    Converters write general.finetune for instruct models, from the name (gguf-py metadata.py).
    """
    names = (model.text("general.name"), model.text("general.basename"), model.name)
    words = {
        word
        for name in (*names, model.text("general.finetune"))
        for word in name.lower().replace(".", " ").replace("-", " ").replace("_", " ").split()
    }
    if words & {"base", "pt", "pretrained"}:
        return True
    return "general.finetune" not in model.keys and not words & set(_CHAT_WORDS)
