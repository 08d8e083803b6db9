"""Marks texts for translation in code that knows no Qt; lupdate finds the name."""


def QT_TRANSLATE_NOOP(_context: str, text: str) -> str:
    """Return the text unchanged."""
    return text
