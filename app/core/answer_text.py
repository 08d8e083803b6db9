"""Whether a short answer can be read: by its characters and repetitions, never by its meaning."""

import unicodedata
from collections import Counter
from itertools import groupby

# words with which chat templates mark turns; in an answer they say that the template is not its own
MARKERS = (
    "<|im_start|>", "<|im_end|>", "<|eot_id|>", "<|start_header_id|>", "<|end|>", "<|user|>",
    "<|assistant|>", "<|endoftext|>", "<start_of_turn>", "<end_of_turn>", "[INST]", "[/INST]",
    "<<SYS>>", "### Instruction", "</s>",
)  # fmt: skip
_LEAST_PLAIN = 0.9  # letters, digits, marks, spaces and punctuation among all characters
_MOST_LOST = 0.02  # characters that could not be decoded
_LONGEST_RUN = 20  # of one character
_LONGEST_ECHO = 8  # of one word
_MANY_WORDS, _LEAST_DISTINCT = 24, 0.2  # below it a long text only repeats itself
_LONGEST_WORD = 60  # of letters that are written with spaces between words
_SCRIPT_SHARE, _MOST_SCRIPTS, _FEW_LETTERS = 0.1, 2, 24
_EAST_ASIAN = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL")
_PLAIN_CATEGORIES = "LNMPZ"


def is_readable(text: str) -> bool:
    """Tell whether a text looks like one that somebody wrote; an empty one does not."""
    text = text.strip()
    if not text:
        return False
    plain = sum(
        unicodedata.category(c)[0] in _PLAIN_CATEGORIES or c in "\n\t$+<=>^`|~" for c in text
    )
    if plain < _LEAST_PLAIN * len(text) or text.count("�") > _MOST_LOST * len(text):
        return False
    if max(len(list(group)) for c, group in groupby(text) if not c.isspace()) > _LONGEST_RUN:
        return False
    return not (_repeats(text.split()) or _mixes(text))


def leaked(text: str) -> str:
    """Return the first word of a chat template that stands in a text, "" = none."""
    found = [(text.index(marker), marker) for marker in MARKERS if marker in text]
    return min(found)[1] if found else ""


def _repeats(words: list[str]) -> bool:
    """Tell whether a text is one word, or one phrase, over and over."""
    if max(len(list(group)) for _, group in groupby(words)) > _LONGEST_ECHO:
        return True
    if any(len(word) > _LONGEST_WORD and word.isascii() for word in words):
        return True
    return len(words) >= _MANY_WORDS and len(set(words)) < _LEAST_DISTINCT * len(words)


def _mixes(text: str) -> bool:
    """Tell whether letters of more writing systems stand in a text than anybody mixes."""
    scripts = Counter(_script(c) for c in text if c.isalpha())
    n_letters = sum(scripts.values())
    if n_letters < _FEW_LETTERS:
        return False
    return sum(n > _SCRIPT_SHARE * n_letters for n in scripts.values()) > _MOST_SCRIPTS


def _script(letter: str) -> str:
    name = unicodedata.name(letter, "?").split()[0]
    return _EAST_ASIAN[0] if name.startswith(_EAST_ASIAN) else name
