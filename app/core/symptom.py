"""What a user may say they see; it orders words and checks, it never decides the verdict."""

from enum import Enum

from app.core.text import QT_TRANSLATE_NOOP


class Symptom(Enum):
    """The answer to "what do you see?"; the value is what --symptom takes."""

    NO_LOAD = "no-load"
    OUT_OF_MEMORY_AT_ONCE = "out-of-memory-at-once"
    OUT_OF_MEMORY_LATER = "out-of-memory-later"
    SLOW_START = "slow-start"
    SLOW_ANSWER = "slow-answer"
    SLOW_WRITING = "slow-writing"
    SLOW_LONG_CHATS = "slow-long-chats"
    SLOW_LATER = "slow-later"
    WRONG_TEXT = "wrong-text"


TEXTS = {
    Symptom.NO_LOAD: QT_TRANSLATE_NOOP("Symptom", "The model does not load"),
    Symptom.OUT_OF_MEMORY_AT_ONCE: QT_TRANSLATE_NOOP("Symptom", "Out of memory at once"),
    Symptom.OUT_OF_MEMORY_LATER: QT_TRANSLATE_NOOP("Symptom", "Out of memory later"),
    Symptom.SLOW_START: QT_TRANSLATE_NOOP("Symptom", "Slow to start"),
    Symptom.SLOW_ANSWER: QT_TRANSLATE_NOOP("Symptom", "Slow to answer"),
    Symptom.SLOW_WRITING: QT_TRANSLATE_NOOP("Symptom", "Slow while writing"),
    Symptom.SLOW_LONG_CHATS: QT_TRANSLATE_NOOP("Symptom", "Slow with long chats"),
    Symptom.SLOW_LATER: QT_TRANSLATE_NOOP("Symptom", "Slow after some minutes"),
    Symptom.WRONG_TEXT: QT_TRANSLATE_NOOP("Symptom", "Wrong or endless text"),
}
