"""What was sampled, for scripts: units in the names, null for what is not told."""

import json

from app.core.evidence import GpuWatch, MemoryWatch
from app.core.gpu_watch import gpu_watch
from app.core.live_track import track_of
from app.core.watch_json import watch_json
from tests.live_recordings import readings


def test_tells_what_a_hot_card_did() -> None:
    found = readings()
    plain = watch_json(
        MemoryWatch(60.0, 120, own_growth_bytes=5), gpu_watch(found, "NVML"), track_of(found)
    )
    assert json.loads(json.dumps(plain)) == plain
    assert plain is not None
    gpu, memory, events = plain["gpu"], plain["memory"], plain["limits_reached"]
    assert isinstance(gpu, dict) and isinstance(memory, dict) and isinstance(events, list)
    assert gpu["clock_reasons"] == ["heat (hardware)"]
    assert gpu["temperature_limit_c"] == 93.0
    assert memory["runtime_growth_bytes"] == 5
    assert events[0]["is_normal"] is True
    assert events[2]["at_s"] == 34.5


def test_what_was_not_watched_is_null() -> None:
    assert watch_json(None, None, None) is None
    plain = watch_json(None, GpuWatch(3), None)
    assert plain is not None and plain["memory"] is None and plain["limits_reached"] == []
    assert isinstance(plain["gpu"], dict) and plain["gpu"]["use_mean"] is None
