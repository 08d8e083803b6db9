"""The product's name, version and identifiers, in one place."""

NAME = "Slowscope"
SLUG = "slowscope"
VERSION = "0.1.0"
DESKTOP_ID = "io.github.slowscope.Slowscope"
SUMMARY = "Find out why the language model on this computer is slow, and prove the fix"
SCHEMA_PREFIX = "slowscope"


def schema(what: str, version: int = 1) -> str:
    """Name the format of a machine-readable document, for example slowscope.plan/1."""
    return f"{SCHEMA_PREFIX}.{what}/{version}"
