"""What-if quantisations: the mixing rules, and the real quantiser's word on them."""

import subprocess
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from app.core import quants, requant
from app.core.errors import UserError
from app.core.model import Model
from app.core.requant import requantised
from app.gguf.model import read_model
from tests.truth import models
from tests.truth.params import Params

# 32 blocks, 8 KV heads for 32, and a small vocabulary
EIGHT_B = replace(models.LLAMA_8B, rope_freqs=0)


def types(params: Params, file_type: str, *, arch: str = "llama") -> dict[str, str]:
    """Return the tensor types of a model in a file type."""
    model = models.build("m", arch, "f16", params)
    return dict(requant.prepare(model).types(file_type))


def blocks_with(found: dict[str, str], name: str, type_name: str) -> list[int]:
    """Return the blocks whose tensor has a type."""
    return [i for i in range(200) if found.get(f"blk.{i}.{name}.weight") == type_name]


def test_half_of_the_values_and_down_projections_get_more_bits_in_an_m_mixture() -> None:
    found = types(EIGHT_B, "Q4_K_M")
    # first and last eighth, and every third block between
    more = [0, 1, 2, 3, 6, 9, 12, 15, 18, 21, 24, 27, 28, 29, 30, 31]
    assert blocks_with(found, "attn_v", "q6_K") == more
    assert blocks_with(found, "ffn_down", "q6_K") == more
    assert found["output.weight"] == "q6_K"
    assert found["token_embd.weight"] == "q4_K"
    assert found["blk.0.attn_norm.weight"] == "f32"
    assert found["blk.5.ffn_up.weight"] == "q4_K"


@pytest.mark.parametrize(
    ("file_type", "name", "type_name", "blocks"),
    [
        ("Q4_K_S", "attn_v", "q5_K", [0, 1, 2, 3]),
        ("Q4_K_S", "ffn_down", "q5_K", [0, 1, 2, 3]),
        ("Q3_K_M", "attn_v", "q5_K", [0, 1]),
        ("Q3_K_M", "ffn_down", "q5_K", [0, 1]),
        ("Q2_K", "attn_v", "q4_K", list(range(32))),
        ("Q2_K", "attn_output", "q3_K", list(range(32))),
        ("IQ4_XS", "attn_v", "q5_K", list(range(32))),
        ("Q6_K", "attn_v", "q6_K", list(range(32))),
    ],
)
def test_other_mixtures_favour_the_first_blocks(
    file_type: str, name: str, type_name: str, blocks: list[int]
) -> None:
    assert blocks_with(types(EIGHT_B, file_type), name, type_name) == blocks


def test_many_query_heads_per_value_head_change_the_mixture() -> None:
    wide = types(replace(EIGHT_B, hk=32), "Q2_K")
    assert blocks_with(wide, "attn_v", "q3_K") == list(range(32))
    seventy = types(replace(EIGHT_B, L=80, e=8192, h=64), "Q4_K_S")
    assert blocks_with(seventy, "attn_v", "q4_K") == []


def test_eight_experts_keep_keys_and_values_in_eight_bits() -> None:
    found = types(replace(EIGHT_B, nx=8, nu=2), "Q4_K_M")
    assert blocks_with(found, "attn_k", "q8_0") == list(range(32))
    assert blocks_with(found, "attn_v", "q8_0") == list(range(32))
    assert blocks_with(found, "attn_output", "q5_K") == list(range(32))
    assert found["blk.0.ffn_gate_inp.weight"] == "f32"


def test_rows_that_256_does_not_divide_take_a_type_of_32() -> None:
    narrow = types(replace(EIGHT_B, e=960, h=15, hk=5, f=2560), "Q4_K_M")
    assert narrow["blk.0.attn_q.weight"] == "q5_0"
    assert narrow["blk.0.attn_v.weight"] == "q8_0"
    assert narrow["output.weight"] == "q8_0"
    assert narrow["blk.0.ffn_down.weight"] == "q6_K"


def test_a_tied_embedding_is_quantised_as_the_output() -> None:
    assert types(replace(EIGHT_B, tied=1), "Q4_0")["token_embd.weight"] == "q6_K"


def test_a_float_type_holds_for_all_matrices() -> None:
    found = Counter(types(EIGHT_B, "BF16").values())
    assert found.keys() == {"bf16", "f32"}


def test_the_model_has_new_types_offsets_and_name() -> None:
    model = models.build("m", "llama", "f16", EIGHT_B)
    small = requantised(model, "Q4_0")
    assert small.keys["general.file_type"] == 2
    assert small.tensor_bytes < 0.3 * model.tensor_bytes
    assert {t.name for t in small.tensors} == {t.name for t in model.tensors}
    ends = {t.offset + -(-t.n_bytes // 32) * 32 for t in small.tensors}
    starts = {t.offset for t in small.tensors}
    assert starts - ends == {0}
    assert small.file_bytes == max(ends)


@pytest.mark.parametrize("name", ["IQ2_XXS", "Q4_K", ""])
def test_a_file_type_that_is_not_offered_is_refused(name: str) -> None:
    with pytest.raises(UserError, match="is not offered"):
        requantised(models.build("m", "llama", "f16", EIGHT_B), name)


def test_an_architecture_with_rules_of_its_own_is_refused() -> None:
    falcon = Model("f.gguf", "falcon", 3, False, {}, (), ())
    with pytest.raises(UserError, match="falcon models are not calculated"):
        requant.prepare(falcon)


def run_quantiser(folder: Path, *words: str) -> str:
    """Run llama-quantize and return what it prints."""
    argv = (str(folder / "llama-quantize"), "--allow-requantize", *words)
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout + done.stderr


@pytest.mark.real
@pytest.mark.parametrize("name", ["Q8_0", "Q5_K_S", "Q4_K_S", "Q4_0", "Q3_K_M"])
def test_equals_what_the_real_quantiser_writes(
    name: str, gemma: Path, llama_bin: Path, tmp_path: Path
) -> None:
    written = tmp_path / f"gemma-{name}.gguf"
    run_quantiser(llama_bin, str(gemma), str(written), name, "1")
    real, calculated = read_model(written), requantised(read_model(gemma), name)
    written.unlink()
    assert {t.name: quants.name_of(t.type_id) for t in calculated.tensors} == {
        t.name: quants.name_of(t.type_id) for t in real.tensors
    }
    assert calculated.tensor_bytes == real.tensor_bytes
    assert calculated.keys["general.file_type"] == real.keys["general.file_type"]
    # the header grows by a key or two, the data do not
    assert calculated.file_bytes - calculated.parts[0].data_offset == (
        real.file_bytes - real.parts[0].data_offset
    )


@pytest.mark.real
def test_equals_the_quantisers_plan_for_every_type_offered(gemma: Path, llama_bin: Path) -> None:
    model = read_model(gemma)
    for name in requant.FILE_TYPES:
        said = run_quantiser(llama_bin, "--dry-run", str(gemma), name, "1")
        total = next(line for line in said.splitlines() if "quant size" in line)
        printed = float(total.split("=")[1].split()[0])
        assert abs(requantised(model, name).tensor_bytes / 2**20 - printed) < 0.006, name
