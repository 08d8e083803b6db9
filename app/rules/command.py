"""The user's load with one thing changed, in the words of the runtime that ran it."""

import functools
import shlex
from dataclasses import replace
from typing import Any

import app.runtimes as package
from app.core import plugins
from app.core.evidence import Evidence
from app.core.machine import Program
from app.core.probe import LoadWish, RuntimeProbe
from app.core.request import LoadRequest
from app.core.rule import Fix
from app.rules import seen
from app.runtimes import llama_argv

_MODEL = "MODEL.gguf"
LLAMA_CPP = "llama.cpp"


def server(evidence: Evidence, **changes: Any) -> str:
    """Return this load with some options of LoadRequest changed.

    A llama-server command in llama.cpp's current form (build 11434), or the names of the settings
    of another runtime; "" for a runtime whose words are not known.
    """
    request = replace(evidence.request or LoadRequest(), **changes)
    platform = "win32" if seen.is_windows(evidence) else "linux"
    story = seen.load(evidence)
    layers = story.offload_line[1] if story is not None and story.offload_line else None
    wish = LoadWish(request, model_path(evidence), layers_total=layers, platform=platform)
    runtime = seen.runtime(evidence)
    if runtime in ("", LLAMA_CPP):
        return llama_argv.command_text(wish, _program(evidence))
    probe = next((one for one in _runtimes() if one.id == runtime), None)
    if probe is None:
        return ""
    text = probe.setting(wish)
    # where nothing is left to set, the names of a file alone would say nothing
    return "" if text == probe.setting(replace(wish, request=LoadRequest())) else text


def list_devices(evidence: Evidence) -> str:
    """Return the command that lists devices, "" for a runtime that has none."""
    return "llama-server --list-devices" if seen.runtime(evidence) in ("", LLAMA_CPP) else ""


def fix(evidence: Evidence, text: str, **changes: Any) -> Fix:
    """Return a fix that is a change of load options: text, command, and what to try it with."""
    return Fix(text, server(evidence, **changes), tuple(changes.items()))


def bench_ends(evidence: Evidence) -> str:
    """Return the llama-bench command that measures both ends: no layers and all layers."""
    return shlex.join(["llama-bench", "-m", model_path(evidence), "-ngl", "0,99", "-r", "5"])


def model_path(evidence: Evidence) -> str:
    """Return the model's path as the user knows it, else a name to replace."""
    if evidence.model is not None:
        return evidence.model.path
    story = seen.load(evidence)
    return story.path if story is not None and story.path else _MODEL


@functools.cache
def _runtimes() -> tuple[RuntimeProbe, ...]:
    return plugins.collect(package, "RUNTIME", RuntimeProbe)


def _program(evidence: Evidence) -> Program | None:
    """Return the llama-server that was found, so that only flags it has are shown."""
    runtimes = evidence.machine.runtimes if evidence.machine else ()
    found = (p for r in runtimes for p in r.programs if p.name == "llama-server")
    return next(found, None)
