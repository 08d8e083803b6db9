"""Real loads on RPC devices: compute buffers after the dry pass, and a draft model's buffers."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from app.core.beside import Companion, Kind, beside
from app.core.log import LoadStory, LogBuffer, Role
from app.core.machine import DeviceKind
from app.core.placement import HOST_ROW, Row, place, prepare
from app.core.request import LoadRequest
from app.core.units import MIB
from app.gguf.model import read_model
from tests.truth import live
from tests.truth.live import Backend

pytestmark = pytest.mark.real
CLOSE = 0.02 * MIB  # a log prints hundredths of a MiB


@pytest.fixture(scope="module")
def backend(llama_bin: Path) -> Iterator[Backend]:
    """Return llama-server with two RPC devices."""
    with ExitStack() as stack:
        ends = stack.enter_context(live.rpc_servers(llama_bin / "ggml-rpc-server", 2))
        words = ("--rpc", ",".join(ends))
        kinds = (DeviceKind.RPC,) * 2
        yield Backend("rpc x2", llama_bin / "llama-server", words, 11434, kinds)


@pytest.mark.parametrize("words", [(), ("-ngl", "9"), ("-nkvo",)], ids=" ".join)
def test_a_real_load_takes_the_compute_buffers_that_are_calculated(
    backend: Backend, gemma: Path, words: tuple[str, ...]
) -> None:
    asked = {
        (): LoadRequest(ctx=8192),
        ("-ngl", "9"): LoadRequest(ctx=8192, ngl=9),
        ("-nkvo",): LoadRequest(ctx=8192, kv_offload=False),
    }[words]
    (load,) = live.loads(backend, gemma, asked)
    devices = backend.devices(())
    placed = place(
        prepare(read_model(gemma)), devices, backend.host(), asked, build=backend.build
    )  # fmt: skip
    _compare(load, placed.rows, backend.words[1].split(","))


def test_a_draft_takes_the_buffers_that_are_calculated(backend: Backend, gemma: Path) -> None:
    model = read_model(gemma)
    asked = LoadRequest(ctx=8192, ngl=9, cache_type_k="q8_0", cache_type_v="q8_0")
    main, draft = live.loads(backend, gemma, asked, "-md", str(gemma))
    assert draft.is_draft
    devices, host = backend.devices(()), backend.host()
    placed = place(prepare(model), devices, host, asked, build=backend.build)
    companion = Companion(Kind.DRAFT, model)
    (found,) = beside((companion,), placed, devices, host, asked, build=backend.build)
    endpoints = backend.words[1].split(",")
    _compare(main, placed.rows, endpoints)
    _compare(draft, found.rows, endpoints)


def _compare(load: LoadStory, rows: tuple[Row, ...], endpoints: list[str]) -> None:
    for role, field in ((Role.KV, "context_bytes"), (Role.COMPUTE, "compute_bytes")):
        said = _by_row(load.buffers, role, endpoints)
        for row in rows:
            own = getattr(row, field)
            assert own == pytest.approx(said.get(row.buffer, 0), abs=CLOSE), (role, row.buffer)


def _by_row(buffers: tuple[LogBuffer, ...], role: Role, endpoints: list[str]) -> dict[str, int]:
    """Sum the buffers of a role; each server calls its device RPC0 and adds its endpoint."""
    found: dict[str, int] = {}
    for one in buffers:
        if one.role is role:
            places = (i for i, end in enumerate(endpoints) if end in one.name)
            row = next((f"RPC{i}" for i in places), HOST_ROW)
            found[row] = found.get(row, 0) + one.n_bytes
    return found
