"""What was sampled while a model was measured, for the machine-readable outputs."""

from app.core.evidence import GpuWatch, MemoryWatch
from app.core.track import Track


def watch_json(
    memory: MemoryWatch | None, gpu: GpuWatch | None, track: Track | None
) -> dict[str, object] | None:
    """Return the JSON object, None when nothing was watched; null in it means not told."""
    if memory is None and gpu is None and track is None:
        return None
    return {
        "memory": None if memory is None else _memory(memory),
        "gpu": None if gpu is None else _gpu(gpu),
        "limits_reached": [
            {"at_s": e.at_s, "subject": e.subject, "text": e.text, "is_normal": e.is_normal}
            for e in (track.events if track is not None else ())
        ],
    }


def _memory(watch: MemoryWatch) -> dict[str, object]:
    return {
        "seconds": watch.seconds,
        "samples": watch.n_samples,
        "swap_in_max_bytes_s": watch.swap_in_max,
        "swap_out_max_bytes_s": watch.swap_out_max,
        "refault_max_bytes_s": watch.refault_max,
        "fault_max_bytes_s": watch.fault_max,
        "swap_used_before_bytes": watch.swap_used_before_bytes,
        "swap_used_after_bytes": watch.swap_used_after_bytes,
        "runtime_growth_bytes": watch.own_growth_bytes,
        "other_programs_max_cores": watch.other_cpu_max,
        "cores": watch.cores,
        "cpu_thermal_samples": watch.n_cpu_thermal,
        "source": watch.source,
    }


def _gpu(watch: GpuWatch) -> dict[str, object]:
    return {
        "name": watch.name,
        "index": watch.index,
        "samples": watch.n_samples,
        "busy_samples": watch.n_busy,
        "use_mean": watch.use_mean,
        "memory_use_mean": watch.memory_use_mean,
        "free_min_bytes": watch.free_min_bytes,
        "shared_growth_bytes": watch.shared_growth_bytes,
        "thermal_samples": watch.n_thermal,
        "clock_reasons": list(watch.reasons),
        "is_capped": watch.is_capped,
        "memory_clock_min_share": watch.memory_clock_min,
        "clock_min_share": watch.clock_min,
        "temperature_max_c": watch.temperature_max,
        "temperature_limit_c": watch.temperature_limit,
        "power_max_w": watch.power_max_w,
        "power_limit_w": watch.power_limit_w,
        "power_default_w": watch.power_default_w,
        "link_max_bytes_s": watch.link_max_bytes_s,
        "link_width": watch.link_width,
        "link_width_max": watch.link_width_max,
        "link_generation": watch.link_generation,
        "link_generation_max": watch.link_generation_max,
        "source": watch.source,
    }
