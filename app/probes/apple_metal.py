"""What Metal itself lets the GPU of a Mac use, and how hot macOS says it is, by direct calls."""

import sys
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class AppleCalls:
    """Answers of Metal and of NSProcessInfo; sizes in bytes, None = not told."""

    working_set_bytes: int | None = None
    max_buffer_bytes: int | None = None
    thermal_state: int | None = None  # NSProcessInfoThermalState, 0 to 3


class Objects(Protocol):
    """Objective-C as far as it is used here."""

    def device(self) -> object | None:
        """Return the default Metal device, None when there is none."""

    def process_info(self) -> object | None:
        """Return NSProcessInfo's only object."""

    def whole(self, thing: object, selector: str) -> int:
        """Ask an object for a whole number."""


def read(objects: Objects) -> AppleCalls:
    """Ask what can be asked; what is not there is None."""
    device, info = objects.device(), objects.process_info()
    working_set = objects.whole(device, "recommendedMaxWorkingSetSize") if device else 0
    max_buffer = objects.whole(device, "maxBufferLength") if device else 0
    state = objects.whole(info, "thermalState") if info else -1
    return AppleCalls(
        working_set_bytes=working_set if 0 < working_set < 1 << 50 else None,
        max_buffer_bytes=max_buffer if 0 < max_buffer < 1 << 50 else None,
        thermal_state=state if 0 <= state <= 3 else None,
    )


if sys.platform == "darwin":
    import ctypes

    _FRAMEWORKS = "/System/Library/Frameworks"

    class _Runtime:
        """Objective-C's runtime through libobjc."""

        def __init__(self) -> None:
            self._objc = ctypes.CDLL("/usr/lib/libobjc.A.dylib")
            self._objc.sel_registerName.restype = ctypes.c_void_p
            self._objc.objc_getClass.restype = ctypes.c_void_p
            # Metal finds no device in a program that did not load CoreGraphics (Metal's manual)
            ctypes.CDLL(f"{_FRAMEWORKS}/CoreGraphics.framework/CoreGraphics")
            ctypes.CDLL(f"{_FRAMEWORKS}/Foundation.framework/Foundation")
            self._metal = ctypes.CDLL(f"{_FRAMEWORKS}/Metal.framework/Metal")
            self._metal.MTLCreateSystemDefaultDevice.restype = ctypes.c_void_p

        def device(self) -> object | None:
            found: object | None = self._metal.MTLCreateSystemDefaultDevice()
            return found

        def process_info(self) -> object | None:
            kind = self._objc.objc_getClass(b"NSProcessInfo")
            return self._send(kind, "processInfo", ctypes.c_void_p) if kind else None

        def whole(self, thing: object, selector: str) -> int:
            answer = self._send(thing, selector, ctypes.c_long)
            return answer if isinstance(answer, int) else 0

        def _send(self, thing: object, selector: str, kind: type) -> object:
            # objc_msgSend must be called with the method's own prototype, on Arm above all
            prototype = ctypes.CFUNCTYPE(kind, ctypes.c_void_p, ctypes.c_void_p)
            send = prototype(("objc_msgSend", self._objc))
            found: object = send(thing, self._objc.sel_registerName(selector.encode()))
            return found

    def ask() -> AppleCalls:
        """Ask this Mac; empty where a framework is not there."""
        try:
            return read(_Runtime())
        except (OSError, AttributeError):
            return AppleCalls()

else:

    def ask() -> AppleCalls:
        """Return nothing: only macOS has Metal."""
        return AppleCalls()
