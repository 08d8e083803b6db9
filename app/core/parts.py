"""The parts of a case that can be taken out of it again."""

from enum import Enum


class Part(Enum):
    """What a user or a run added to the evidence."""

    MODEL = "model"
    LOG = "log"
    RUNS = "runs"
