"""Evidence <-> the evidence file (schema slowscope.evidence/1), lossless, strict on input."""

from app import product
from app.core import json_values
from app.core.errors import UserError
from app.core.evidence import Evidence

SCHEMA = product.schema("evidence")
MAX_BYTES = 64 << 20
TITLE = "This evidence file cannot be read"
_SCHEMA_KEY = "schema"
_MAKER_KEY = "made_by"


def dumps(evidence: Evidence) -> bytes:
    """Return the evidence file; it holds all of the value, personal details included."""
    return json_values.dumps(to_document(evidence))


def loads(data: bytes) -> Evidence:
    """Read an evidence file, also one from another person; UserError names what is wrong."""
    document = json_values.parse(data, limit_bytes=MAX_BYTES, title=TITLE)
    if not isinstance(document, dict):
        raise UserError(TITLE, "It does not hold a JSON object.")
    return from_document(document)


def to_document(evidence: Evidence) -> dict[str, object]:
    """Return the evidence as the JSON object of its file."""
    plain = json_values.to_plain(evidence)
    assert isinstance(plain, dict)
    return {_SCHEMA_KEY: SCHEMA, _MAKER_KEY: f"{product.NAME} {product.VERSION}", **plain}


def from_document(document: dict[str, object]) -> Evidence:
    """Build the evidence from a parsed file."""
    schema = document.get(_SCHEMA_KEY)
    if schema != SCHEMA:
        raise UserError(
            TITLE,
            f"Its schema is {str(schema)[:80]!r}, not {SCHEMA!r}.",
            f"Open it with the {product.NAME} version that made it"
            if isinstance(schema, str) and schema.startswith(product.SCHEMA_PREFIX)
            else f"Choose a file that {product.NAME} exported as evidence",
        )
    rest = {key: value for key, value in document.items() if key not in (_SCHEMA_KEY, _MAKER_KEY)}
    return json_values.from_plain(Evidence, rest, where="evidence", title=TITLE)
