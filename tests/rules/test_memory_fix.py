"""The first fix after a load without memory: in the words of the runtime that ran it."""

import pytest

from app.core.evidence import Evidence
from app.rules import memory_fix, memory_words

PARTS = ("weights", "kv", "compute", "")
NAMES = {
    "ollama": "num_",
    "lm-studio": "GPU Offload|Context Length|Batch Size",
    "koboldcpp": "--",
    "text-generation-webui": "-size",
    "jan": "Size",
    "tabbyapi": "_",
}


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("runtime", NAMES)
def test_names_the_settings_of_the_runtime_and_none_of_llama_cpp(runtime: str, part: str) -> None:
    fix = memory_fix.first(Evidence(runtime=runtime), part, ())
    assert any(name in fix.text for name in NAMES[runtime].split("|"))
    assert not any(flag in fix.text for flag in ("-ngl", "--fit", "-c:", "-c,"))


@pytest.mark.parametrize("part", PARTS)
def test_names_flags_where_llama_cpp_itself_ran(part: str) -> None:
    fix = memory_fix.first(Evidence(runtime="llama.cpp"), part, ())
    assert fix.command.startswith("llama-server")
    assert memory_words.of_runtime("llama.cpp", part) == ""


def test_asks_for_a_shorter_context_first_where_the_cache_found_no_room() -> None:
    text = memory_fix.first(Evidence(runtime="ollama"), "kv", ()).text
    assert text.startswith("Set a shorter num_ctx")
    assert "num_gpu" not in text
