"""Reads the environment of a running program, where the system lets this user see it."""

import psutil

from app.core.variables import that_matter

NOT_ALLOWED = "the system does not let this user see the environment of that program"
GONE = "the program ended meanwhile"


def variables_of(pid: int) -> tuple[tuple[tuple[str, str], ...], str]:
    """Return the variables that matter, and "" or the reason why they could not be read."""
    try:
        return that_matter(psutil.Process(pid).environ()), ""
    except psutil.AccessDenied:
        return (), NOT_ALLOWED
    except (psutil.NoSuchProcess, psutil.ZombieProcess):
        return (), GONE
    except (OSError, NotImplementedError) as error:
        return (), f"the environment could not be read: {error}"
