"""What is read of a running program beside its log: its variables, and a short answer of it."""

from functools import partial

from app.core.evidence import TextCheck
from app.core.host import Host
from app.core.machine import Runtime
from app.core.secrets import hidden_argv
from app.work import text_check
from app.work.server_client import Endpoint
from app.work.steps import Script, Steps
from app.work.text_check import CHECK_TEXT, Chat

_HIGH = 1.2  # a temperature above it is worth a second question


def pids_of(host: Host, runtime: Runtime) -> frozenset[int]:
    """Return the processes that were started with the runtime's own command line."""
    return frozenset(
        p.pid for p in host.processes() if runtime.argv and hidden_argv(p.argv) == runtime.argv
    )


def variables(
    steps: Steps, runtime: Runtime, notes: list[str]
) -> Script[tuple[tuple[str, str], ...]]:
    """Read the variables of the running program; where it is not allowed, a note says so."""
    from app.probes.environment import variables_of
    from app.probes.host import RealHost

    pids = yield steps.job(lambda _cancel, _progress: pids_of(RealHost(), runtime), "its process")
    if not pids:
        notes.append(f"The environment of {runtime.title} was not read: its process is not known.")
        return ()
    found, why = yield steps.job(
        lambda _cancel, _progress: variables_of(min(pids)), "its environment"
    )
    if why:
        notes.append(f"The environment of {runtime.title} was not read: {why}.")
    return tuple(found)


def checked(steps: Steps, runtime: Runtime, notes: list[str]) -> Script[tuple[TextCheck, ...]]:
    """Ask the running program once, where the user sees wrong text; a note says that it was asked.

    Where its own temperature is high, it is asked again at that one.
    """
    steps.begin(CHECK_TEXT)
    if runtime.port is None:
        notes.append(f"The text was not checked: {runtime.title} listens on no port that is known.")
        steps.fail("no port is known")
        return ()
    name = runtime.loaded[0].name if runtime.loaded else ""
    found: list[TextCheck] = []
    for temperature in (0.0, *text_check.own_temperatures(runtime.port, above=_HIGH)):
        chat = Chat(Endpoint(runtime.port), model=name, temperature=temperature)
        check, why = yield steps.job(partial(text_check.ask, chat, ()), "text check")
        if check is None:
            notes.append(f"The text was not checked: {why}.")
            steps.fail(why)
            return tuple(found)
        found.append(check)
    notes.append(f"{len(found)} short request of ours was answered by {runtime.title}.")
    steps.end("; ".join(text_check.words(check) for check in found))
    return tuple(found)
