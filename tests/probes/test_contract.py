"""What each probe must do, on every machine: answer in time, and never raise."""

import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import app.probes
from app.core import facts, plugins
from app.core.host import Basics, CommandResult, NvmlAnswer, NvmlValue
from app.core.probe import Probe
from app.core.reading import State
from app.probes import amd_linux, apple, cpu, memory, nvidia, pressure, swap, system
from tests.hosts import FakeHost, fake_host

PROBES = plugins.collect(app.probes, "PROBE", Probe)
PLATFORMS = ("linux", "win32", "darwin")
# names that probes look for, so that made-up folders lead them on
_NAMES = ("card0", "card1", "cpu0", "cpu1", "cpu17", "dxg", "nvidia0", "memory.max", "x")


class WildHost(FakeHost):
    """A machine where every file and program exists and says anything."""

    def __init__(self, platform: str, texts: Sequence[str], seed: int) -> None:
        wild = random.Random(seed)
        values = tuple(
            NvmlValue(query, wild.choice([None, 0, -1, 1 << 70, wild.choice(texts)]), "Unknown")
            for query in ("name", "memory_v2.total", "memory_v2.free", "clock.memory_max")
        )
        nvml = NvmlAnswer(wild.choice(list(State)), "why", cards=(values, ()))
        super().__init__(platform=platform, nvml=nvml, basics=Basics())
        self._wild = wild
        self._texts = texts

    def read_text(self, path: str, limit: int = 1 << 20) -> str | None:
        """Return anything."""
        return self._wild.choice([None, *self._texts])

    def list_dir(self, path: str) -> tuple[str, ...]:
        """Return some of the names that lead on."""
        return tuple(sorted(self._wild.sample(_NAMES, self._wild.randrange(len(_NAMES)))))

    def which(self, name: str) -> str | None:
        """Find every program."""
        return f"/usr/bin/{name}"

    def run(self, argv: Sequence[str], timeout_s: float = 2.0) -> CommandResult:
        """Print anything."""
        out, err = self._wild.choice(self._texts), self._wild.choice(self._texts)
        state = self._wild.choice([State.KNOWN, State.ERROR, State.MISSING])
        return CommandResult(tuple(argv), state, 0, out, err, "why")


# pieces of what the files really hold, cut and mixed
_PIECES = st.one_of(
    st.text(max_size=40),
    st.sampled_from(
        [
            "", "0", "-1", "max", "max 100000", "1 0", "0-3,8", "3-0", "99999999999999999999999",
            "0x1002", "0x10de", "12 kB", "MemTotal: 1 kB\nMemAvailable: 2 kB",
            "index, name, memory.total [MiB]\n0, A, [N/A]", "hw.perflevel0.physicalcpu: -3",
            "4:memory:/a/../b\n0::/x", "flags : avx avx2 amx_tile", "total = 1,5M  used = 2.5G",
            "some avg10=999.00 avg60=0 avg300=0 total=0", "６\u0663", "²",
            "card²", "\0\0", "a: b: c",
        ]
    ),
)  # fmt: skip


@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe.name)
@given(texts=st.lists(_PIECES, min_size=1, max_size=6), seed=st.integers(0, 1 << 32))
@settings(max_examples=60, deadline=None)
def test_never_raises_whatever_the_machine_says(probe: Probe, texts: list[str], seed: int) -> None:
    for platform in PLATFORMS:
        for fact in probe.read(WildHost(platform, texts, seed)):
            reading = fact.reading
            # a value or a reason, never both missing
            assert (reading.value is not None) == (reading.state is State.KNOWN)
            assert reading.value is not None or reading.reason
            assert reading.source


@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe.name)
def test_stays_within_its_time_when_every_program_hangs(probe: Probe) -> None:
    for platform in PLATFORMS:
        host = FakeHost(platform=platform, programs={"nvidia-smi": "/bin/nvidia-smi"}, hangs=True)
        probe.read(host)
        assert host.elapsed_s <= probe.time_limit_s


@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe.name)
def test_never_raises_on_an_empty_machine(probe: Probe) -> None:
    for platform in PLATFORMS:
        probe.read(FakeHost(platform=platform))


def test_states_each_path_once() -> None:
    for host in (fake_host("vm-llvmpipe"), FakeHost(platform="darwin"), FakeHost()):
        paths = [fact.path for fact in facts.join(probe.read(host) for probe in PROBES)]
        assert len(paths) == len(set(paths))


def test_finds_all_the_probes() -> None:
    own = (amd_linux, apple, cpu, memory, nvidia, pressure, swap, system)
    assert {module.PROBE.name for module in own} <= {probe.name for probe in PROBES}
