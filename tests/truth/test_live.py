"""The planner against live programs: two real models on a Vulkan device and on RPC devices."""

import re
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from app.core.errors import UserError
from app.core.fit import fit
from app.core.machine import Device, DeviceKind
from app.core.model import Model
from app.core.placement import HOST_ROW, Placement, Prepared, place, prepare
from app.core.request import LoadRequest, SplitMode, Tool
from app.core.said import Part, Said, SaidRow, apart, compare
from app.core.units import MIB
from app.gguf.model import read_model
from app.runtimes import llama_argv
from app.work import header_copy
from tests.truth import live, live_cases
from tests.truth.live import Backend

pytestmark = pytest.mark.real


@dataclass(frozen=True, slots=True)
class Stage:
    """The programs, the devices and the models."""

    vulkan: Backend
    rpc: dict[tuple[str, Tool], Backend]
    models: dict[str, tuple[Path, Prepared]]

    def backend(self, name: str, tool: Tool) -> Backend:
        """Return what runs a request."""
        return self.vulkan if name == "vulkan" else self.rpc[name, tool]


@pytest.fixture(scope="module")
def stage(
    llama_bin: Path, vulkan_server: Path, gemma: Path, deepseek_header: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Stage]:  # fmt: skip
    """Start two RPC servers, and stand in for the 7B file by a sparse copy of its header."""
    with ExitStack() as stack:
        monkeypatch = stack.enter_context(pytest.MonkeyPatch.context())
        monkeypatch.setenv("SLOWSCOPE_CACHE", str(tmp_path_factory.mktemp("headers")))
        cut = read_model(deepseek_header)
        copy = Path(stack.enter_context(header_copy.readable(cut)))
        ends = stack.enter_context(live.rpc_servers(llama_bin / "ggml-rpc-server", 2))
        rpc = {
            (f"rpc x{n}", tool): Backend(
                f"rpc x{n}", llama_bin / tool.value, ("--rpc", ",".join(ends[:n])), 11434,
                (DeviceKind.RPC,) * n,
            )
            for n in (1, 2)
            for tool in (Tool.SERVER, Tool.FIT_PARAMS)
        }  # fmt: skip
        vulkan = Backend("vulkan", vulkan_server, (), 10434, (DeviceKind.VULKAN,))
        models: dict[str, tuple[Path, Model]] = {
            "gemma": (gemma, read_model(gemma)),
            "deepseek": (copy, cut),
        }
        yield Stage(vulkan, rpc, {k: (path, prepare(m)) for k, (path, m) in models.items()})


def _id(case: tuple[str, str, LoadRequest]) -> str:
    backend, model, request = case
    words = " ".join(llama_argv.server_options(request).words)
    return f"{model} on {backend}: {request.tool.value} {words}"


CASES = tuple(
    (backend, model, request)
    for backend in live_cases.BACKENDS
    for model in live_cases.MODELS
    for request in live_cases.placements(backend)
)


def test_the_grid_is_as_large_as_promised() -> None:
    assert len(CASES) >= 40
    assert len(live_cases.FITS) + len(live_cases.RPC_FITS) >= 20


@pytest.mark.parametrize("case", CASES, ids=_id)
def test_every_row_is_llama_cpps_own(stage: Stage, case: tuple[str, str, LoadRequest]) -> None:
    name, model, request = case
    backend = stage.backend(name, request.tool)
    path, prepared = stage.models[model]
    run = live.dry_pass(backend, path, request, _expected(backend, prepared, request))
    assert run.rows, run.lines[-20:]
    placed = _placed(backend, prepared, request, backend.devices(run.rows))
    rows = tuple(
        SaidRow(row.buffer, row.free is None, row.model, row.context, row.compute)
        for row in run.rows
    )
    said = Said(rows, backend.program.name, backend.build, (), request, 0.0)
    figures = compare(placed, said)
    assert apart(tuple(f for f in figures if f.part is not Part.COMPUTE)) == ()
    assert [cache.n_bytes / MIB for cache in placed.caches] == [
        pytest.approx(mib, abs=0.011) for mib in run.kv_mib
    ]
    assert apart(figures) == ()
    # what is printed is cut to whole MiB
    for row in run.rows:
        own = placed.row(row.buffer)
        assert own is None or abs(own.compute_bytes / MIB - row.compute) <= 1.01, row
    assert placed.row(HOST_ROW) is not None


def _placed(
    backend: Backend, prepared: Prepared, request: LoadRequest, devices: tuple[Device, ...]
) -> Placement:
    return place(prepared, devices, backend.host(), request, dry_pass=True, build=backend.build)


def _expected(backend: Backend, prepared: Prepared, request: LoadRequest) -> frozenset[str]:
    placed = _placed(backend, prepared, request, backend.devices(()))
    return frozenset(row.buffer for row in placed.rows if row.weights_bytes >= 2 * MIB)


@pytest.mark.parametrize("case", (*live_cases.FITS, *live_cases.RPC_FITS), ids=_id)
def test_fit_decides_as_the_live_program(stage: Stage, case: tuple[str, str, LoadRequest]) -> None:
    name, model, request = case
    backend = stage.backend(name, request.tool)
    path, prepared = stage.models[model]
    if request.fit_target_mib is not None and request.fit_target_mib < 0:
        first = live.dry_pass(backend, path, replace(request, fit_target_mib=0, ctx=512, ngl=0))
        free = next(row.free for row in first.rows if row.free is not None)
        request = replace(request, fit_target_mib=free + request.fit_target_mib)
    run = live.fit(backend, path, request)
    assert run.rows, run.lines[-20:]
    result = fit(prepared, backend.devices(run.rows), backend.host(), request, backend.build)
    assert result.refused == run.refusal
    assert live_cases.refusal(request) in run.refusal
    assert _kinds(step.log_line for step in result.steps) == _kinds(run.lines)
    ngl = result.ngl if result.ngl is not None else request.ngl
    if run.fitted is not None:
        said = (run.fitted.ctx, run.fitted.ngl, run.fitted.split)
        assert (result.ctx, -1 if ngl is None else ngl, result.tensor_split) == said
        return
    ctx = run.reduced_to or request.ctx or prepared.shape.n_ctx_train
    layers = [int(match[1]) for match in map(_LAYERS.search, run.lines) if match]
    assert (result.ctx, result.ngl or 0) == (ctx, sum(layers))


def test_rows_cannot_be_split_over_rpc_devices(stage: Stage) -> None:
    # so the refusal of --fit for this mode (placement.md 4.2 step 3) needs CUDA, ROCm or SYCL
    request = LoadRequest(tool=Tool.FIT_PARAMS, split_mode=SplitMode.ROW)
    run = live.fit(stage.backend("rpc x2", request.tool), stage.models["gemma"][0], request)
    assert any("RPC0 does not support split buffers" in line for line in run.lines)
    with pytest.raises(UserError, match="Split mode row does not work on RPC0"):
        devices = (Device("RPC0", DeviceKind.RPC, "", None, None, "live"),)
        place(stage.models["gemma"][1], devices, stage.vulkan.host(), request)


# the decisions in llama.cpp's words, without their figures
_DECISIONS = (
    "projected to use", "no changes needed", "cannot meet free memory target", "context size set",
    "context size reduced", "user has requested full context", "-> no change", "entire model can",
    "successfully fit", "failed to fit params",
)  # fmt: skip
_LAYERS = re.compile(r"common_params_fit_impl:   - \S+ \(.*\): +(\d+) layers, ")


def _kinds(lines: Iterable[str]) -> list[str]:
    found = (next((words for words in _DECISIONS if words in line), "") for line in lines)
    return [words for words in found if words]
