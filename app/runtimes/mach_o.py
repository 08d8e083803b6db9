"""Which processors a macOS program is built for, from its first bytes (mach-o/loader.h, fat.h)."""

import struct

N_BYTES = 512
_THIN, _FAT = b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe"
_NAMES = {0x01000007: "x86_64", 0x0100000C: "arm64"}
_MOST = 8  # a Java class begins as a fat file does, with a version where the count is


def architectures(data: bytes) -> tuple[str, ...]:
    """Return x86_64, arm64 or both; empty for any other file."""
    if data.startswith(_THIN) and len(data) >= 8:
        (kind,) = struct.unpack_from("<I", data, 4)
        kinds = [kind]
    elif data.startswith(_FAT) and len(data) >= 8:
        (count,) = struct.unpack_from(">I", data, 4)
        n = min(count, (len(data) - 8) // 20) if count <= _MOST else 0
        kinds = [struct.unpack_from(">I", data, 8 + 20 * i)[0] for i in range(n)]
    else:
        return ()
    return tuple(_NAMES[kind] for kind in kinds if kind in _NAMES)
