"""Windows: a job object that ends its processes when we are gone, however we end.

Not tested: no Windows machine was at hand. Written after Microsoft's documentation of
JOBOBJECT_EXTENDED_LIMIT_INFORMATION (JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE): the system closes our
handles when we end or are killed, and closing the job's last handle ends all processes in it.
"""

import ctypes
import sys

_EXTENDED_LIMIT_INFORMATION = 9
_LIMIT_KILL_ON_JOB_CLOSE = 0x2000
_PROCESS_SET_QUOTA = 0x0100
_PROCESS_TERMINATE = 0x0001


class _BasicLimits(ctypes.Structure):
    _fields_ = [
        ("per_process_user_time_limit", ctypes.c_int64),
        ("per_job_user_time_limit", ctypes.c_int64),
        ("limit_flags", ctypes.c_uint32),
        ("minimum_working_set_size", ctypes.c_size_t),
        ("maximum_working_set_size", ctypes.c_size_t),
        ("active_process_limit", ctypes.c_uint32),
        ("affinity", ctypes.c_size_t),
        ("priority_class", ctypes.c_uint32),
        ("scheduling_class", ctypes.c_uint32),
    ]


class _ExtendedLimits(ctypes.Structure):
    _fields_ = [
        ("basic", _BasicLimits),
        ("io_counters", ctypes.c_uint64 * 6),
        ("process_memory_limit", ctypes.c_size_t),
        ("job_memory_limit", ctypes.c_size_t),
        ("peak_process_memory_used", ctypes.c_size_t),
        ("peak_job_memory_used", ctypes.c_size_t),
    ]


if sys.platform == "win32":

    def _kernel() -> ctypes.WinDLL:
        kernel = ctypes.WinDLL("kernel32", use_last_error=True)
        for name in ("CreateJobObjectW", "OpenProcess"):
            getattr(kernel, name).restype = ctypes.c_void_p
        kernel.CreateJobObjectW.argtypes = [ctypes.c_void_p, ctypes.c_wchar_p]
        kernel.OpenProcess.argtypes = [ctypes.c_uint32, ctypes.c_int, ctypes.c_uint32]
        kernel.AssignProcessToJobObject.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
        kernel.TerminateJobObject.argtypes = [ctypes.c_void_p, ctypes.c_uint32]
        kernel.CloseHandle.argtypes = [ctypes.c_void_p]
        kernel.SetInformationJobObject.argtypes = [
            ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_uint32,
        ]  # fmt: skip
        return kernel

    def _create() -> int | None:
        kernel = _kernel()
        handle = kernel.CreateJobObjectW(None, None)
        if not handle:
            return None
        limits = _ExtendedLimits()
        limits.basic.limit_flags = _LIMIT_KILL_ON_JOB_CLOSE
        done = kernel.SetInformationJobObject(
            handle, _EXTENDED_LIMIT_INFORMATION, ctypes.byref(limits), ctypes.sizeof(limits)
        )
        return int(handle) if done else None

else:

    def _kernel() -> ctypes.CDLL:
        raise AssertionError("job objects are of Windows")

    def _create() -> int | None:
        return None


class WindowsJob:
    """Processes put into it end with us; a process's later children are in it by themselves."""

    def __init__(self) -> None:
        self._handle = _create()

    def add(self, pid: int) -> bool:
        """Put a process in; False when the system refused, or this is not Windows."""
        if self._handle is None:
            return False
        kernel = _kernel()
        process = kernel.OpenProcess(_PROCESS_SET_QUOTA | _PROCESS_TERMINATE, False, pid)
        if not process:
            return False
        try:
            return bool(kernel.AssignProcessToJobObject(self._handle, process))
        finally:
            kernel.CloseHandle(process)

    def kill_all(self) -> None:
        """End every process in it."""
        if self._handle is not None:
            _kernel().TerminateJobObject(self._handle, 1)
