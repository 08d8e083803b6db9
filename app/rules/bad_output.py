"""Wrong or endless text: what the file's header lacks for a chat model.

What: without a chat template llama-server takes ChatML, without a word, also for a model that
does not know it; without an end token the text does not stop.
Evidence: the user sees wrong text, and the header lacks the key. Only the header is looked at.
Arithmetic: none.
Fix: the file from the model's maker, or a newer conversion.
Proof: the key is in the header, and a short answer stops by itself.
Sources: advice.md claims 84 and 85; common/chat.cpp in llama.cpp, build 11434; users.md row 5.
"""

from app.core.evidence import Evidence
from app.core.model import Model
from app.core.rule import Certainty, Cite, Finding, Fix, Rule
from app.core.symptom import Symptom

TEMPLATE = "tokenizer.chat_template"
END_TOKEN = "tokenizer.ggml.eos_token_id"
_SOURCE = "header of the file"


def check(evidence: Evidence) -> Finding | None:
    """Find a missing template or end token, when wrong text was seen."""
    model = evidence.model
    if model is None or evidence.symptom != Symptom.WRONG_TEXT.value:
        return None
    if END_TOKEN not in model.keys:
        return Finding(
            cause="The file does not name the token that ends a text, so answers may not stop.",
            cites=(Cite(f"{END_TOKEN} is missing", source=_SOURCE),),
            fix=Fix("Get a newer GGUF of this model: its conversion lost the key."),
            proof="The key is in the header, and a short answer stops by itself.",
            certainty=Certainty.LIKELY,
            title="The file has no end token",
        )
    if TEMPLATE in model.keys:
        return None
    return Finding(
        cause="The file has no chat template, so the program guesses one. Text is then often wrong "
        "or does not stop." + _base(model),
        cites=(Cite(f"{TEMPLATE} is missing", source=_SOURCE),),
        fix=Fix("Get the chat file (instruct, it) of this model from its maker."),
        proof="The template is in the header, and a short answer stops by itself.",
        certainty=Certainty.LIKELY,
        title="The file has no chat template",
    )


def silent(evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    if evidence.symptom != Symptom.WRONG_TEXT.value:
        return "no wrong text was reported"
    return "the header has a chat template and an end token"


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    return "" if evidence.model is not None else "no model file"


def _base(model: Model) -> str:
    name = model.text("general.name", model.name).lower()
    return " Its name says that it is a base model, not one for chats." if "base" in name else ""


RULE = Rule(
    id="bad-output",
    title="The file lacks what a chat needs",
    check=check,
    silent=silent,
    needs=needs,
)
