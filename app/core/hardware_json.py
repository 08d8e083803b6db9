"""The machine as the JSON document slowscope.hardware/1 (docs/json.md)."""

from app import product
from app.core.doubts import doubts
from app.core.machine import Device, Machine, MachineFact, Runtime

SCHEMA = product.schema("hardware")


def hardware_json(machine: Machine) -> dict[str, object]:
    """Return the document; a missing value is null with its state and reason, never 0."""
    doubtful = doubts(machine)
    return {
        "schema": SCHEMA,
        "facts": [_fact(fact, doubtful.get(fact.path, "")) for fact in machine.facts],
        "devices": [_device(device) for device in machine.devices],
        "devices_source": machine.devices_source,
        "runtimes": [_runtime(runtime) for runtime in machine.runtimes],
        "skipped": list(machine.skipped),
    }


def _fact(fact: MachineFact, doubt: str) -> dict[str, object]:
    reading = fact.reading
    value = list(reading.value) if isinstance(reading.value, tuple) else reading.value
    return {
        "path": fact.path,
        "value": value,
        "unit": reading.unit,
        "source": reading.source,
        "state": reading.state.value,
        "reason": reading.reason,
        "doubt": doubt,
    }


def _device(device: Device) -> dict[str, object]:
    return {
        "id": device.id,
        "kind": device.kind.value,
        "description": device.description,
        "total_bytes": device.total_bytes,
        "free_bytes": device.free_bytes,
        "max_buffer_bytes": device.max_buffer_bytes,
        "is_software": device.is_software,
        "is_integrated": device.is_integrated,
        "source": device.source,
    }


def _runtime(runtime: Runtime) -> dict[str, object]:
    return {
        "id": runtime.id,
        "title": runtime.title,
        "version": runtime.version,
        "build": runtime.build,
        "folder": runtime.folder,
        "programs": [{"name": p.name, "path": p.path} for p in runtime.programs],
        "backends": list(runtime.backends),
        "is_running": runtime.is_running,
        "port": runtime.port,
        "command": list(runtime.argv),
        "loaded": [
            {
                "name": model.name,
                "bytes": model.n_bytes,
                "device_bytes": model.device_bytes,
                "ctx": model.ctx,
                "settings": list(model.settings),
            }
            for model in runtime.loaded
        ],
        "source": runtime.source,
    }
