"""Evidence of text made by hand: a header, and short answers that were right or wrong."""

from collections.abc import Mapping

from app.core.evidence import Evidence, TextCheck
from app.core.model import KeyValue, Model
from app.core.symptom import Symptom
from app.rules.texts import END_TOKEN, TEMPLATE

WHOLE: dict[str, KeyValue] = {TEMPLATE: "{{ messages }}", END_TOKEN: 1}
RIGHT = TextCheck((), is_readable=True, has_ended=True)
ENDLESS = TextCheck((), is_readable=True, has_ended=False, source="a short answer")
NONSENSE = TextCheck((), is_readable=False, source="a short answer")
LEAK = TextCheck((), is_readable=True, has_ended=True, leaked="<|im_start|>")


def evidence(
    keys: Mapping[str, KeyValue], *checks: TextCheck, is_reported: bool = False, arch: str = "llama"
) -> Evidence:
    """Return evidence of a header, answers, and what the user said to see."""
    return Evidence(
        model=Model("m.gguf", arch, 3, False, keys, (), ()),
        text_checks=checks,
        symptom=Symptom.WRONG_TEXT.value if is_reported else "",
    )
