"""How a program ended, as a value that explains itself in words."""

import signal
from dataclasses import dataclass
from enum import Enum

# what a signal means for the person in front of the screen, by its number on Linux and macOS
_SIGNALS = {
    4: "it used an instruction that this processor lacks: it was built for another processor",
    6: "it stopped itself, because one of its own checks failed (abort)",
    7: "it could not read a file that it had mapped into memory: the file changed, or its disk",
    8: "it crashed in a calculation",
    9: "the system killed it, most likely because memory ran out",
    10: "it crashed with a bus error",
    11: "it crashed with an invalid memory access",
    13: "it lost the pipe that it was writing to",
    15: "something asked it to end",
    24: "it used up the processor time it was allowed",
    25: "it wrote a larger file than it was allowed",
}
# NTSTATUS values that Windows uses as exit codes (winnt.h, ntstatus.h)
_WINDOWS_CODES = {
    0xC0000005: "it crashed with an invalid memory access",
    0xC0000017: "it got no memory from the system",
    0xC000001D: _SIGNALS[4],
    0xC00000FD: "it crashed: its stack was full",
    0xC0000135: "a library (DLL) that it needs is missing",
    0xC0000139: "a library (DLL) that it uses has the wrong version",
    0xC000013A: "it was ended by Ctrl+C",
    0xC0000409: "it stopped itself, because one of its own checks failed",
}


class End(Enum):
    """The four ways a program's run ends."""

    EXITED = "exited"
    CRASHED = "crashed"  # by a signal that we did not send
    STOPPED = "stopped"  # because we asked
    NOT_STARTED = "not started"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a program ended; code is its exit code, signal_number the signal that ended it."""

    program: str
    end: End
    code: int | None = None
    signal_number: int | None = None
    reason: str = ""  # why it did not start
    seconds: float = 0.0
    last_lines: tuple[str, ...] = ()

    @property
    def is_success(self) -> bool:
        """Tell whether the program ended by itself and reported success."""
        return self.end is End.EXITED and self.code == 0

    def sentence(self) -> str:
        """Return in words how the program ended."""
        if self.end is End.NOT_STARTED:
            return f"{self.program} could not be started: {self.reason}."
        if self.end is End.STOPPED:
            return f"{self.program} was stopped."
        if self.is_success:
            return f"{self.program} ended normally."
        return f"{self.program} ended early: {self._why()}."

    def _why(self) -> str:
        number, code = self.signal_number, self.code or 0
        if number is None and code & 0xFFFFFFFF in _WINDOWS_CODES:
            return f"{_WINDOWS_CODES[code & 0xFFFFFFFF]} (code 0x{code & 0xFFFFFFFF:08X})"
        # a shell, and a container's first process, report a signal as 128 + its number
        if number is None and 128 < code < 160:
            number = code - 128
        if number is None:
            return f"exit code {code}"
        what = _SIGNALS.get(number, "a signal ended it")
        return f"{what} ({_name_of(number)}{f', exit code {self.code}' if self.code else ''})"


def _name_of(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
