"""Guards against PySide6 6.12.0, which loses references to None on Python 3.11.

docs/decisions/0002-pyside-below-6-12.md
"""

import sys

import PySide6
from PySide6.QtCore import QObject


def test_calls_that_return_nothing_keep_none_alive() -> None:
    # without the padding a faulty PySide6 would abort the interpreter here
    padding = [None] * 100_000
    thing = QObject()
    before = sys.getrefcount(None)
    for _ in range(5_000):
        thing.setObjectName("x")
    assert sys.getrefcount(None) > before - 1_000
    assert len(padding) == 100_000


def test_version_is_the_one_that_was_decided() -> None:
    assert (6, 11, 3) <= PySide6.__version_info__[:3] < (6, 12)
