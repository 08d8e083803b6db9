"""A command line keeps what decides a load, and loses keys and prompts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.secrets import HIDDEN, hidden_argv

ARGV = (
    "/opt/llama-server", "-m", "/models/a.gguf", "-ngl", "20", "--api-key", "geheim",
    "--hf-token=hf_abcdefghijkl", "-c", "8192", "-p", "Dear diary",
)  # fmt: skip


def test_keeps_the_load_and_hides_the_rest() -> None:
    shown = hidden_argv(ARGV)
    assert shown[:5] == ARGV[:5]
    assert shown[5:8] == ("--api-key", HIDDEN, f"--hf-token={HIDDEN}")
    assert shown[8:] == ("-c", "8192", "-p", HIDDEN)


@pytest.mark.parametrize(
    "word",
    ["sk-1234567890abcdef", "hf_abcdefghijkl", "https://me:pass@example.invalid/x",
     "--gradio-auth=me:pass", "0123456789abcdef0123456789abcdef01234567"],
)  # fmt: skip
def test_hides_what_looks_like_a_secret_wherever_it_stands(word: str) -> None:
    assert word not in hidden_argv(("server.py", word))


@given(st.lists(st.text(max_size=12)))
def test_keeps_the_number_of_words(words: list[str]) -> None:
    assert len(hidden_argv(tuple(words))) == len(words)
