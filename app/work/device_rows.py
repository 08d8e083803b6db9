"""Reads the table of devices from the application's resources, once."""

from functools import cache

from app import paths
from app.core import device_table
from app.core.device_table import Row


@cache
def rows() -> tuple[Row, ...]:
    """Return all devices of the table."""
    return device_table.parse((paths.resources() / "devices.csv").read_text(encoding="utf-8"))
