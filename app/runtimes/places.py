"""Paths as the asked machine writes them, which need not be the machine this runs on."""

import ntpath
import posixpath

from app.core.host import Host


def join(host: Host, *parts: str) -> str:
    """Join a path in the machine's own style; an empty first part gives an empty path."""
    if not parts or not parts[0]:
        return ""
    return ntpath.join(*parts) if host.platform() == "win32" else posixpath.join(*parts)


def folder_of(host: Host, path: str) -> str:
    """Return the folder that holds a path."""
    return ntpath.dirname(path) if host.platform() == "win32" else posixpath.dirname(path)


def name_of(host: Host, path: str) -> str:
    """Return the last part of a path."""
    return ntpath.basename(path) if host.platform() == "win32" else posixpath.basename(path)


def executable(host: Host, name: str) -> str:
    """Return the file name of a program."""
    return f"{name}.exe" if host.platform() == "win32" else name


def variable(host: Host, name: str) -> str:
    """Return an environment variable, "" when it is not set."""
    return host.env().get(name, "")
