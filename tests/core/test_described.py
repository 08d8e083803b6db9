"""Models described by their sizes, against files and published models."""

from dataclasses import replace

import pytest

from app.core.described import Description, billions_of, described, parameters_of
from app.core.errors import UserError
from app.core.machine import Host
from app.core.placement import place, prepare
from app.core.request import LoadRequest
from tests.truth import models

# Llama 3.1 8B as published: 8,030,261,248 parameters
LLAMA_8B = Description(
    parameters=8_030_261_248, blocks=32, embedding=4096, heads=32, kv_heads=8, vocabulary=128_256,
    ctx_train=131_072,
)  # fmt: skip
QWEN_30B = Description(
    parameters=30_532_122_624, blocks=48, embedding=2048, heads=32, kv_heads=4,
    vocabulary=151_936, experts=128, experts_used=8,
)  # fmt: skip


def test_finds_the_feed_forward_width_from_the_parameters() -> None:
    model = described(LLAMA_8B, "F16")
    assert model.whole("feed_forward_length") == 14_336
    assert sum(tensor.n_values for tensor in model.tensors) == 8_030_261_248


@pytest.mark.parametrize("file_type", ["Q4_K_M", "Q8_0", "F16"])
def test_weighs_what_the_published_model_weighs(file_type: str) -> None:
    real = models.build("llama-3.1-8b", "llama", "f16", models.LLAMA_8B)
    from app.core.requant import requantised

    ours = described(LLAMA_8B, file_type).tensor_bytes
    # the real one has rope factors beside
    assert ours == pytest.approx(requantised(real, file_type).tensor_bytes, abs=1024)


def test_places_it_like_a_file() -> None:
    placed = place(prepare(described(LLAMA_8B, "Q8_0")), (), Host(), LoadRequest(ctx=8192))
    assert sum(cache.n_bytes for cache in placed.caches) == 1024 << 20  # placement.md 2.2


def test_counts_the_used_experts_alone_when_it_reads() -> None:
    model = described(QWEN_30B, "Q8_0")
    assert model.whole("expert_feed_forward_length") == 768
    placed = place(prepare(model), (), Host(), LoadRequest(ctx=4096))
    # the heads of the real one are 128 wide, which the sizes do not tell
    assert placed.reads.total_bytes < 0.15 * model.tensor_bytes


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"heads": 33}, "cannot be shared by 33 heads"),
        ({"kv_heads": 5}, "cannot share 5 KV heads"),
        ({"parameters": 1_000_000_000}, "at least"),
        ({"blocks": 0}, "above zero"),
        ({"experts": 4, "experts_used": 5}, "5 of 4 experts"),
    ],
)
def test_says_which_sizes_contradict_each_other(change: dict[str, int], words: str) -> None:
    with pytest.raises(UserError) as caught:
        described(replace(LLAMA_8B, **change), "Q8_0")
    assert words in caught.value.sentence()


def test_billions_are_counts_and_back() -> None:
    assert parameters_of(8.03) == 8_030_000_000
    assert billions_of(parameters_of(0.27)) == 0.27
