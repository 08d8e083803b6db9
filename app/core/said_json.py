"""llama.cpp's own word on a load as JSON (docs/json.md)."""

from app.core.said import Said, SaidRow
from app.core.units import MIB


def said_json(said: Said) -> dict[str, object]:
    """Return the object; the table prints whole MiB, cut off, here as bytes."""
    return {
        "program": said.program,
        "build": said.build,
        "command": list(said.command),
        "seconds": said.seconds,
        "is_sparse_copy": said.is_sparse_copy,
        "source": said.source,
        "rows": [_row(row) for row in said.rows],
        "differences": list(said.differences),
    }


def _row(row: SaidRow) -> dict[str, object]:
    return {
        "buffer": row.buffer,
        "kind": "host" if row.is_host else "device",
        "weights_bytes": row.weights_mib * MIB,
        "context_bytes": row.context_mib * MIB,
        "compute_bytes": row.compute_mib * MIB,
    }
