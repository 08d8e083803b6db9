"""Which build a placement goes by: the log's, the program's here, or none."""

from dataclasses import replace

import pytest

from app.core import builds
from app.core.bench import BenchRun, Test
from app.core.evidence import Evidence
from app.core.fit import fit
from app.core.forecast import forecast
from app.core.log import LogSummary
from app.core.machine import Device, DeviceKind, Host, Machine, Program, Runtime
from app.core.placement import place, prepare
from app.core.request import LoadRequest
from app.core.units import GIB
from app.logs.scan import scan_text
from tests.truth import models

CARD = Device("CUDA0", DeviceKind.CUDA, "", 24 * GIB, 23 * GIB, "test")
OLD_LOG = """build: {build} (abcdef0) with cc for x86_64-linux-gnu
load_tensors: offloading {repeating} repeating layers to GPU
load_tensors: offloaded 30/33 layers to GPU
load_tensors:        CUDA0 model buffer size =  3000.00 MiB
"""


def runtime(build: int | None, folder: str = "/opt/llama", name: str = "llama.cpp") -> Runtime:
    """Return a runtime with a server."""
    server = Program("llama-server", f"{folder}/llama-server")
    return Runtime(name, name, folder, None, build, (server,) if name == "llama.cpp" else (), "")


def log(build: int, repeating: int) -> LogSummary:
    """Return what a log of 30 layers says."""
    return scan_text(OLD_LOG.format(build=build, repeating=repeating))


def test_a_log_names_its_build() -> None:
    evidence = Evidence(log=log(6699, 30), machine=Machine(runtimes=(runtime(11434),)))
    assert builds.of_evidence(evidence) == 6699


@pytest.mark.parametrize(("repeating", "is_old"), [(30, True), (29, False)])
def test_a_log_without_a_build_tells_its_age_by_its_order(repeating: int, is_old: bool) -> None:
    found = builds.of_log(log(0, repeating))
    assert (found is not None and found < 7460) is is_old
    assert (found is None) is not is_old


def test_without_a_log_the_program_that_listed_the_devices_counts() -> None:
    both = (runtime(11434, "/new"), runtime(8173, "/old"))
    assert builds.of_machine(Machine(runtimes=both)) == 11434
    listed = Machine(runtimes=both, devices_source="/old/llama-server --list-devices")
    assert builds.of_evidence(Evidence(machine=listed)) == 8173
    assert builds.of_evidence(Evidence()) is None


def test_another_runtime_has_the_build_that_it_tells() -> None:
    machine = Machine(runtimes=(runtime(11434), runtime(None, name="ollama")))
    assert builds.of_evidence(Evidence(machine=machine, runtime="ollama")) is None
    assert builds.of_machine(machine, "ollama") is None


def test_a_rate_carries_its_build() -> None:
    run = BenchRun(Test.GENERATION, 128, (10.0,), "llama-bench", build="8173")
    assert builds.of_run(run) == 8173
    assert builds.of_run(replace(run, build="1d7ab2b94")) is None


def test_a_forecast_places_layers_as_the_log_s_build_does() -> None:
    model = models.build("llama-3.1-8b", "llama", "q4_K_M", models.LLAMA_8B)
    for build, has_output in ((6699, False), (8173, True)):
        evidence = Evidence(model=model, log=log(build, 30), machine=Machine(devices=(CARD,)))
        placed = forecast(evidence).placement
        assert placed is not None
        assert (placed.layers[-1].device is not None) is has_output


def test_a_placement_says_whose_rules_it_follows() -> None:
    prepared = prepare(models.build("llama-3.1-8b", "llama", "q4_K_M", models.LLAMA_8B))
    known = place(prepared, (CARD,), Host(), LoadRequest(ctx=4096), build=8173)
    assert known.source.endswith("as build 8173 has them")
    unknown = place(prepared, (CARD,), Host(), LoadRequest(ctx=4096))
    assert "build is not known, so ranges cover builds since 2025" in unknown.source
    widths = [
        one.rows[0].compute_high_bytes - one.rows[0].compute_low_bytes for one in (known, unknown)
    ]
    assert widths[0] < widths[1]


def test_a_build_without_fit_is_not_asked_for_one() -> None:
    prepared = prepare(models.build("llama-3.1-8b", "llama", "q4_K_M", models.LLAMA_8B))
    for build, has_fit in ((6699, False), (8173, True)):
        found = fit(prepared, (CARD,), Host(), LoadRequest(), build)
        assert (found.not_calculated == "") is has_fit
    assert (
        "Build 6699 has no --fit"
        in fit(prepared, (CARD,), Host(), LoadRequest(), 6699).not_calculated
    )
