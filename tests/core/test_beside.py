"""Files beside a model: a draft is a second model, a projector lies on the first GPU."""

from dataclasses import replace

import pytest

from app.core.beside import Beside, Companion, Kind, beside, with_files
from app.core.errors import UserError
from app.core.machine import CpuKind, Device, DeviceKind, Host
from app.core.model import KeyValue, Model, Tensor
from app.core.placement import HOST_ROW, place, prepare
from app.core.plan import Situation, fits
from app.core.request import LoadRequest
from app.core.units import GIB, MIB
from tests.truth import models
from tests.truth.params import Params

HOST = Host(CpuKind.AVX2, 64 * GIB, 60 * GIB)
CUDA = Device("CUDA0", DeviceKind.CUDA, "", 24 * GIB, 24 * GIB, "test")
RPC = Device("RPC0", DeviceKind.RPC, "", 24 * GIB, 24 * GIB, "test")
SMALL = models.build(
    "small", "qwen3", "q8_0",
    Params(L=28, e=1024, f=3072, h=16, hk=8, dk=128, v=151936, ctx=40960, tied=1),
)  # fmt: skip
LARGE = models.build("llama-3.1-8b", "llama", "q4_K_M", models.LLAMA_8B)


def clip(**keys: KeyValue) -> Model:
    """Return a projector: 4 matrices of F16, and what its header says."""
    tensors = tuple(Tensor(f"v.blk.{i}.ffn_up.weight", 1, (1152, 4304), 0) for i in range(4))
    return Model("mmproj.gguf", "clip", 3, False, keys, tensors, ())


SIGLIP: dict[str, KeyValue] = {
    "clip.vision.embedding_length": 1152,
    "clip.vision.feed_forward_length": 4304,
    "clip.vision.image_size": 896,
    "clip.vision.patch_size": 14,
    "clip.vision.projector_type": "gemma3",
}


def one(companion: Companion, *devices: Device, request: LoadRequest | None = None) -> Beside:
    """Return what a companion of the large model takes."""
    asked = request or LoadRequest(ctx=8192)
    placed = place(prepare(LARGE), devices, HOST, asked, build=11434)
    (found,) = beside((companion,), placed, devices, HOST, asked, build=11434)
    return found


def test_a_draft_takes_what_it_takes_alone_with_the_models_context() -> None:
    request = LoadRequest(ctx=8000, ngl=10, cache_type_k="q8_0", cache_type_v="q8_0", parallel=2)
    found = one(Companion(Kind.DRAFT, SMALL), CUDA, request=request)
    # the options of the model itself (-ngl, -ctk) are not the draft's
    alone = place(
        prepare(SMALL), (CUDA,), HOST, LoadRequest(ctx=8192, parallel=2), build=11434
    )  # fmt: skip
    assert found.rows == alone.rows
    assert found.is_verified
    assert "context 8,192" in found.note


def test_a_projector_lies_on_the_first_gpu_of_this_computer() -> None:
    found = one(Companion(Kind.PROJECTOR, clip(**SIGLIP)), RPC, CUDA)
    (row,) = found.rows
    assert row.buffer == "CUDA0"
    assert row.weights_bytes == 4 * 1152 * 4304 * 2
    assert row.compute_low_bytes < row.compute_bytes < row.compute_high_bytes
    # 64 x 64 patches of 4304 + 3 x 1152 values
    assert row.compute_bytes == 4 * 4096 * (4304 + 3 * 1152)
    assert not found.is_verified
    assert "not verified" in found.note


@pytest.mark.parametrize("devices", [(), (CUDA,)])
def test_a_projector_stays_on_the_host_when_told_or_without_a_gpu(
    devices: tuple[Device, ...],
) -> None:
    companion = Companion(Kind.PROJECTOR, clip(**SIGLIP), is_offloaded=not devices)
    assert one(companion, *devices).rows[0].buffer == HOST_ROW


def test_the_compute_of_an_audio_projector_is_not_calculated() -> None:
    found = one(Companion(Kind.PROJECTOR, clip()), CUDA)
    assert found.rows[0].compute_high_bytes == 0
    assert "compute buffer is not calculated" in found.note


def test_a_model_is_no_projector() -> None:
    with pytest.raises(UserError, match="no projector"):
        one(Companion(Kind.PROJECTOR, SMALL), CUDA)


def test_a_load_fits_only_with_what_is_beside_it() -> None:
    placed = place(prepare(LARGE), (CUDA,), HOST, LoadRequest(ctx=8192), build=11434)
    room = placed.rows[0].high_bytes + 1100 * MIB  # the margin of 1,024 MiB and a little
    device = replace(CUDA, free_bytes=room)
    situation = Situation((device,), HOST, LoadRequest(ctx=8192), build=11434)
    assert fits(placed, situation)
    with_draft = replace(situation, companions=(Companion(Kind.DRAFT, SMALL),))
    assert fits(placed, with_draft) is False


def test_the_request_says_what_kind_of_draft_it_is() -> None:
    head = Tensor("blk.27.nextn.eh_proj.weight", 1, (64, 64), 0)
    mtp = replace(SMALL, tensors=(*SMALL.tensors, head))
    kinds = [
        with_files(LoadRequest(), (Companion(Kind.DRAFT, model),)).draft_type
        for model in (SMALL, mtp, replace(SMALL, arch="dflash"), replace(SMALL, arch="eagle3"))
    ]
    assert kinds == ["draft-simple", "", "", "draft-eagle3"]
