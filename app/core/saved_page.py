"""Tells from the first bytes, as an error line quotes them, what was saved instead of a model."""

# how the file begins, as text and as the number that builds of 2023 print
_PAGE = ("'<!DO", "'<!do", "'<htm", "'<HTM", "4f44213c", "6d74683c")
_POINTER = ("'vers", "73726576")

PAGE = "a web page"
POINTER = "a Git LFS pointer, a text of some lines"


def instead_of_model(line: str) -> str:
    """Return what the file is by a line about its magic characters, "" = not known."""
    if any(word in line for word in _PAGE):
        return PAGE
    return POINTER if any(word in line for word in _POINTER) else ""
