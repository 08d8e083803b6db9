"""What long work asks, block by block, to learn that it should stop."""

from typing import Protocol


class Cancel(Protocol):
    """The flag of a running job; work.jobs has the real one."""

    def check(self) -> None:
        """Raise when the work was asked to stop."""
