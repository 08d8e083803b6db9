"""What was watched stands in the texts of the commands: a hot card, and when it was held down."""

from app.cli import bench
from app.cli.diagnose_text import diagnose_text
from app.core.bench import BenchRun, Test
from app.core.evidence import Evidence, MemoryWatch
from app.core.forecast import forecast
from app.core.gpu_watch import gpu_watch
from app.core.live_track import track_of
from app.rules import judge
from app.work.watch import Watched
from tests.live_recordings import readings

RUN = BenchRun(Test.GENERATION, 128, (20.0, 21.0), "llama-bench", model_name="a.gguf")
MEMORY = MemoryWatch(60.0, 120, source="psutil")


def test_diagnose_names_the_heat_and_lists_when_it_began() -> None:
    found = readings()
    evidence = Evidence(
        runs=(RUN,), watch=MEMORY, gpu_watch=gpu_watch(found, "NVML"), track=track_of(found)
    )
    text = diagnose_text(evidence, judge.diagnose(evidence), forecast(evidence))
    assert "by heat: its driver says so" in " ".join(text.split())
    assert "GPU 0: memory clock fell from 9,501 to 5,001 MHz: heat (hardware)" in text
    assert "at most 93 °C, limit 93 °C" in text


def test_bench_notes_the_limits_but_not_those_that_are_normal() -> None:
    found = readings()
    watched = Watched(MEMORY, gpu_watch(found, "NVML"), track_of(found))
    text = bench._text(bench._Measured((RUN,), (), None, (), watched))
    joined = " ".join(text.split())
    assert "After 34.5 s: GPU 0: memory clock fell from 9,501 to 5,001 MHz" in joined
    assert "power limit reached" not in joined
    assert "After" not in bench._text(bench._Measured((RUN,), (), None, ()))
