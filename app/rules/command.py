"""The user's command with one thing changed, in llama.cpp's current form (build 11434)."""

import shlex
from dataclasses import replace
from typing import Any

from app.core.evidence import Evidence
from app.core.llama_options import server_options
from app.core.request import LoadRequest
from app.rules import seen

_MODEL = "MODEL.gguf"


def server(evidence: Evidence, **changes: Any) -> str:
    """Return the llama-server command of this load with some options of LoadRequest changed."""
    request = replace(evidence.request or LoadRequest(), **changes)
    return shlex.join(["llama-server", "-m", model_path(evidence), *server_options(request)])


def bench_ends(evidence: Evidence) -> str:
    """Return the llama-bench command that measures both ends: no layers and all layers."""
    return shlex.join(["llama-bench", "-m", model_path(evidence), "-ngl", "0,99", "-r", "5"])


def model_path(evidence: Evidence) -> str:
    """Return the model's path as the user knows it, else a name to replace."""
    if evidence.model is not None:
        return evidence.model.path
    story = seen.load(evidence)
    return story.path if story is not None and story.path else _MODEL
