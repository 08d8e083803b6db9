"""A container's limit, live, in both versions of cgroups."""

from app.probes.live_limit import LimitMeter, LimitReading
from tests.hosts import FakeHost

ROOT = "/sys/fs/cgroup"
V2 = {
    "/proc/self/cgroup": "0::/\n",
    f"{ROOT}/memory.max": "1000\n",
    f"{ROOT}/memory.current": "900\n",
    f"{ROOT}/memory.stat": "anon 500\ninactive_file 300\n",
    f"{ROOT}/memory.events": "low 0\nhigh 0\nmax 7\noom 0\n",
}
V1 = {
    "/proc/self/cgroup": "4:memory:/box\n",
    f"{ROOT}/memory/box/memory.limit_in_bytes": "1000\n",
    f"{ROOT}/memory/box/memory.usage_in_bytes": "400\n",
    f"{ROOT}/memory/box/memory.failcnt": "3\n",
}


def test_reads_use_and_hits_of_version_2() -> None:
    assert LimitMeter(FakeHost(files=V2)).read() == LimitReading(1000, 600, 7)


def test_reads_use_and_hits_of_version_1() -> None:
    assert LimitMeter(FakeHost(files=V1)).read() == LimitReading(1000, 400, 3)


def test_without_a_limit_there_is_nothing_to_read() -> None:
    assert LimitMeter(FakeHost(files=V2 | {f"{ROOT}/memory.max": "max\n"})).read() is None
    assert LimitMeter(FakeHost()).read() is None
    assert LimitMeter(FakeHost(platform="darwin")).read() is None


def test_hits_that_are_not_counted_are_none() -> None:
    files = {path: text for path, text in V2.items() if "events" not in path}
    assert LimitMeter(FakeHost(files=files)).read() == LimitReading(1000, 600, None)
