"""Cores by class, caches and sockets from Windows' own list; reading it is plain bytes."""

import struct
import sys

from app.core.host import CpuTopology

# winnt.h LOGICAL_PROCESSOR_RELATIONSHIP
_CORE, _NUMA, _CACHE, _PACKAGE, _ALL = 0, 1, 2, 3, 0xFFFF
_HEAD = struct.Struct("<II")  # relationship, size of the record
_CACHE_HEAD = struct.Struct("<BBHI")  # level, associativity, line size, size
_DATA_CACHES = (0, 2)  # unified and data; 1 is instructions
_MAX_BYTES = 1 << 20


def parse(data: bytes) -> CpuTopology | None:
    """Read the records of GetLogicalProcessorInformationEx, None when they make no CPU."""
    classes: dict[int, int] = {}
    caches = {2: 0, 3: 0}
    has_smt, packages, nodes = False, 0, 0
    offset = 0
    while offset + _HEAD.size + 12 <= min(len(data), _MAX_BYTES):
        relationship, size = _HEAD.unpack_from(data, offset)
        if size < _HEAD.size + 12 or offset + size > len(data):
            break
        body = offset + _HEAD.size
        if relationship == _CORE:
            flags, efficiency = data[body], data[body + 1]
            classes[efficiency] = classes.get(efficiency, 0) + 1
            has_smt |= bool(flags & 1)  # LTP_PC_SMT
        elif relationship == _CACHE:
            level, _ways, _line, n_bytes = _CACHE_HEAD.unpack_from(data, body)
            (kind,) = struct.unpack_from("<I", data, body + _CACHE_HEAD.size)
            if level in caches and kind in _DATA_CACHES:
                caches[level] += n_bytes
        packages += relationship == _PACKAGE
        nodes += relationship == _NUMA
        offset += size
    if not classes:
        return None
    return CpuTopology(
        cores_by_class=tuple(sorted(classes.items(), reverse=True)),  # higher is faster
        has_smt=has_smt,
        sockets=packages or None,
        numa_nodes=nodes or None,
        l2_bytes=caches[2] or None,
        l3_bytes=caches[3] or None,
    )


if sys.platform == "win32":
    import ctypes
    from ctypes import wintypes

    def topology() -> CpuTopology | None:
        """Ask Windows, in all groups of processors; None when it does not answer."""
        ask = ctypes.windll.kernel32.GetLogicalProcessorInformationEx
        size = wintypes.DWORD(0)
        ask(_ALL, None, ctypes.byref(size))
        if not 0 < size.value <= _MAX_BYTES:
            return None
        buffer = ctypes.create_string_buffer(size.value)
        if not ask(_ALL, buffer, ctypes.byref(size)):
            return None
        return parse(buffer.raw[: size.value])

else:

    def topology() -> CpuTopology | None:
        """Return None: only Windows has this list."""
        return None
