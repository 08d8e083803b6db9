"""What the name of a card, a model or a folder says by itself."""

import re

# cards that are never integrated, by the words of their names
_CARD = re.compile(r"\b(?:GeForce|RTX|GTX|Quadro|Tesla)\b|\bRadeon (?:RX|PRO W)|\bArc\b.*[AB]\d{3}")
# "30B-A3B", "8x7B", "moe": names of models that read only a part of their weights per token
_SPARSE = re.compile(r"(?i)\bA\d+(?:\.\d+)?B\b|moe|\dx\d+b")
_WINDOWS_DRIVE = re.compile(r"/mnt/[a-z]/")


def is_card(description: str) -> bool:
    """Tell whether a device's description names a card with memory of its own."""
    return _CARD.search(description) is not None


def is_sparse_model(name: str) -> bool:
    """Tell whether a model's name says that it is a mixture of experts."""
    return _SPARSE.search(name) is not None


def is_on_windows_drive(path: str) -> bool:
    """Tell whether a path inside WSL lies on a drive of Windows, under its usual mount."""
    return _WINDOWS_DRIVE.match(path) is not None
