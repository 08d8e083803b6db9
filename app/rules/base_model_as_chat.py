"""A base model is used as a chat model: it continues a text, and does not answer.

What: a base model knows no turns. A chat program wraps the question in a template that it has
never seen, so the answer drifts, talks to itself, and does not end.
Evidence: an answer that cannot be read or does not end, a header without a chat template, and a
name without a word for chats (or with "base"). The header alone is no fault: base models complete.
Arithmetic: none.
Fix: the instruct file of the same model. Proof: the template is in the header, and a short answer
ends by itself.
Sources: advice.md claim 85 and part 3 row "Base model as chat"; gguf-py/gguf/metadata.py and
common/chat.cpp (ChatML without a word) in llama.cpp, build 11434; users.md row 5.
"""

from app.core.evidence import Evidence
from app.core.rule import Cite, Finding, Fix, Rule
from app.rules import texts


def check(evidence: Evidence) -> Finding | None:
    """Find wrong answers of a model that was not made for chats."""
    model, certainty = evidence.model, texts.certainty(evidence)
    if model is None or certainty is None or not texts.answers(model):
        return None
    if texts.TEMPLATE in model.keys or not texts.is_base(model):
        return None
    name = model.text("general.name", model.name)
    return Finding(
        cause=f"“{name}” looks like a base model: its header has no chat template, and no word in "
        "its name says that it is made for chats. It continues a text and does not answer.",
        cites=(
            *texts.cites(evidence),
            Cite(f"{texts.TEMPLATE} is missing", source=texts.HEADER),
            Cite(f"general.name = {name}", source=texts.HEADER),
        ),
        fix=Fix("Get the chat file of the same model (instruct, chat or it), from its maker."),
        proof="The template is in the header, and a short answer ends by itself.",
        certainty=certainty,
    )


def silent(evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    model = evidence.model
    assert model is not None  # needs() said what is missing otherwise
    if texts.TEMPLATE in model.keys:
        return "the header has a chat template"
    if not texts.is_base(model):
        return "the name says that the model is made for chats"
    return "a short answer could be read and ended by itself"


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    model = evidence.model
    if model is None:
        return "no model file"
    is_possible = texts.TEMPLATE not in model.keys and texts.is_base(model)
    return texts.NOT_TRIED if is_possible and not evidence.text_checks else ""


RULE = Rule(
    id="base-model-as-chat",
    title="A base model is used for chats",
    check=check,
    silent=silent,
    needs=needs,
)
