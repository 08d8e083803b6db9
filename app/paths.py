"""Where resources and the user's own folders are, also in the packaged application."""

import os
import sys
from pathlib import Path

from app import product


def resources() -> Path:
    """Return the folder of files shipped with the application."""
    frozen = getattr(sys, "_MEIPASS", None)
    root = Path(frozen) if frozen else Path(__file__).resolve().parent.parent
    return root / "resources"


def user_data() -> Path:
    """Return the folder for the notebook; the caller creates it when it writes."""
    return _user_folder(_variable("DATA"), "XDG_DATA_HOME", ".local/share", "Application Support")


def user_config() -> Path:
    """Return the folder for settings; the caller creates it when it writes."""
    return _user_folder(_variable("CONFIG"), "XDG_CONFIG_HOME", ".config", "Preferences")


def user_cache() -> Path:
    """Return the folder for what can be made again; the caller creates it when it writes."""
    return _user_folder(_variable("CACHE"), "XDG_CACHE_HOME", ".cache", "Caches")


def _user_folder(own: str, xdg: str, linux: str, mac: str) -> Path:
    given = os.environ.get(own)
    if given:
        return Path(given)
    home = Path.home()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", home / "AppData/Local")) / product.NAME
    if sys.platform == "darwin":
        return home / "Library" / mac / product.NAME
    return Path(os.environ.get(xdg) or home / linux) / product.SLUG


def _variable(what: str) -> str:
    """Name the environment variable that moves a user folder, for tests and portable use."""
    return f"{product.SLUG.upper()}_{what}"
