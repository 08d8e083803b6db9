"""Windows' own list of graphics adapters (DXGI), by ctypes; the parsing is plain bytes."""

import struct
import sys

from app.core.host import Adapter

# DXGI_ADAPTER_DESC1: name, four numbers, three sizes, LUID, flags (dxgi.h); 64-bit
_LAYOUT = struct.Struct("<256s4I3Q2I")
DESC_BYTES = 312  # with the flags and what aligns the whole
_SOFTWARE = 2
_MAX_ADAPTERS = 16


def parse_desc(data: bytes) -> Adapter | None:
    """Read one DXGI_ADAPTER_DESC1, None when it is cut off."""
    if len(data) < _LAYOUT.size + 4:
        return None
    name, vendor, _device, _sub, _revision, own, system, shared, low, high = _LAYOUT.unpack_from(
        data
    )
    (flags,) = struct.unpack_from("<I", data, _LAYOUT.size)
    text = name.decode("utf-16-le", "replace").split("\0", 1)[0].strip()
    return Adapter(
        name=text[:128],
        vendor=vendor,
        own_bytes=own,
        system_bytes=system,
        shared_bytes=shared,
        luid=f"0x{high:08x}_0x{low:08x}",
        is_software=bool(flags & _SOFTWARE),
    )


if sys.platform == "win32":
    import ctypes
    import uuid

    _FACTORY = uuid.UUID("770aae78-f26f-4dba-a829-253c83d1b387")  # IDXGIFactory1
    # places in the tables of functions: IDXGIFactory1 and IDXGIAdapter1 (dxgi.h)
    _RELEASE, _ENUM_ADAPTERS1, _GET_DESC1 = 2, 12, 10

    def adapters() -> tuple[Adapter, ...] | None:
        """Ask Windows, None when it does not answer."""
        factory = ctypes.c_void_p()
        guid = (ctypes.c_ubyte * 16).from_buffer_copy(_FACTORY.bytes_le)
        try:
            create = ctypes.windll.dxgi.CreateDXGIFactory1
            if create(ctypes.byref(guid), ctypes.byref(factory)) != 0:
                return None
        except (OSError, AttributeError):  # no such library (Server Core)
            return None
        found = []
        for index in range(_MAX_ADAPTERS):
            adapter = ctypes.c_void_p()
            if _call(factory, _ENUM_ADAPTERS1, ctypes.c_uint(index), ctypes.byref(adapter)) != 0:
                break
            data = ctypes.create_string_buffer(DESC_BYTES + 8)
            if _call(adapter, _GET_DESC1, data) == 0:
                desc = parse_desc(data.raw)
                if desc is not None:
                    found.append(desc)
            _call(adapter, _RELEASE)
        _call(factory, _RELEASE)
        return tuple(found)

    def _call(thing: ctypes.c_void_p, place: int, *arguments: object) -> int:
        table = ctypes.cast(thing, ctypes.POINTER(ctypes.POINTER(ctypes.c_void_p)))[0]
        prototype = ctypes.WINFUNCTYPE(ctypes.c_long, ctypes.c_void_p, *map(_kind, arguments))
        return int(prototype(table[place])(thing, *arguments))

    def _kind(argument: object) -> type:
        return ctypes.c_uint if isinstance(argument, ctypes.c_uint) else ctypes.c_void_p

else:

    def adapters() -> tuple[Adapter, ...] | None:
        """Return None: only Windows has this list."""
        return None
