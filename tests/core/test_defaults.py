"""A build's own defaults where nothing is asked."""

import pytest

from app.core.defaults import as_of
from app.core.fit_table import FitWish, fit_rows
from app.core.machine import CpuKind, Host
from app.core.placement import place, prepare
from app.core.request import LoadRequest, Tool
from app.core.units import GIB
from tests.truth import models
from tests.truth.params import Params

# windows of 1024 tokens, which four slots need four times
GEMMA = models.build(
    "gemma3-12b",
    "gemma3",
    "q4_K_M",
    Params(L=48, e=3840, f=15360, h=16, hk=8, dk=256, v=262208, ctx=131072, swa=1024, tied=1),
)
HOST = Host(CpuKind.AVX2, 64 * GIB, 60 * GIB)


@pytest.mark.parametrize(("build", "mib"), [(6786, 992), (6934, 1952), (None, 1952)])
def test_a_server_has_four_slots_since_november_2025(build: int | None, mib: int) -> None:
    placed = place(prepare(GEMMA), (), HOST, LoadRequest(ctx=8192), build=build)
    assert sum(cache.n_bytes for cache in placed.caches) == mib << 20
    wish = FitWish(quantisations=(), cache_types=("f16",), contexts=(8192,), build=build)
    assert next(fit_rows(GEMMA, (), HOST, LoadRequest(), wish)).cells[0].context_bytes == mib << 20


def test_what_is_asked_for_stays() -> None:
    assert as_of(LoadRequest(parallel=2), 6000).parallel == 2
    assert as_of(LoadRequest(tool=Tool.BENCH), 6000).parallel is None
