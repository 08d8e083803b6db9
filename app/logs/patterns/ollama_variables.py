"""Ollama: the variables of its environment that choose or hide GPUs."""

import re

from app.core.log import Fact, Pattern, Sample

# discover/runner.go, overrideWarnings (since v0.12): said only of variables that are not empty
PATTERNS = (
    Pattern(
        fact=Fact.VARIABLE,
        keys=("user overrode visible devices",),
        regex=re.compile(
            r'user overrode visible devices"? (?P<name>[A-Z_]+)="?(?P<value>[^"\s]+)"?'
        ),
        samples=(
            Sample(
                build="ollama 0.13 (rjmalagon/ollama-linux-amd-apu issue 34)",
                line="time=2026-01-06T12:23:15.855Z level=WARN source=runner.go:485 "
                'msg="user overrode visible devices" HSA_OVERRIDE_GFX_VERSION=11.5.1',
                values={"name": "HSA_OVERRIDE_GFX_VERSION", "value": "11.5.1"},
            ),
        ),
    ),
)
