"""Readable text of several languages and kinds, and what broken models write instead."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.answer_text import is_readable, leaked

FINE = [
    "The capital of France is Paris.",
    "Paris",
    "Die Hauptstadt von Frankreich ist Paris, und das seit langem.",
    "フランスの首都はパリです。とても有名な都市で、観光客も多いです。",
    "Столица Франции — Париж. In English: Paris.",
    "```python\nprint('Paris')\n```",
    "1. Paris\n2. Lyon\n3. Marseille",
    "2 + 2 = 4",
]
BROKEN = [
    "",
    "   \n ",
    "GGGGGGGGGGGGGGGGGGGGGGGGGGGGGGGGGGGGGG",
    "the the the the the the the the the the",
    "@#$%^&*{}[]@#$%^&*{}[]" + "\x00\x01\x02" * 20,
    "�� ��� ��",
    " ".join(["Paris is", "the city"] * 20),
    "1" * 80,
    "Schwimm ичес 的 ગુજ انت ность 你好 ગુજરાત العربية слово 中文字 ગુજરાતી عربي",
]


@pytest.mark.parametrize("text", FINE)
def test_reads_what_somebody_wrote(text: str) -> None:
    assert is_readable(text)


@pytest.mark.parametrize("text", BROKEN)
def test_cannot_read_what_a_broken_model_writes(text: str) -> None:
    assert not is_readable(text)


def test_names_the_first_word_of_a_template() -> None:
    assert leaked("Paris.<|im_end|><|im_start|>user") == "<|im_end|>"
    assert leaked("Paris.") == ""


@given(st.text(max_size=300))
def test_answers_for_any_text(text: str) -> None:
    assert isinstance(is_readable(text), bool)
    assert leaked(text) in text
