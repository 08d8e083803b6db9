"""A plan as the JSON document slowscope.plan/1 (docs/json.md)."""

from collections.abc import Sequence

from app import product
from app.core import plan as planning
from app.core import quants, weights
from app.core.beside import Beside
from app.core.cache import Cache
from app.core.fit_result import FitResult
from app.core.json_values import to_plain
from app.core.machine import Device
from app.core.model import Model
from app.core.overhead import overhead_of
from app.core.pace import PROMPT_TOKENS, Pace
from app.core.placement import LayerPlace, Row
from app.core.plan import Plan, TableLine
from app.core.reading import Estimate, Kind
from app.core.request import LoadRequest

SCHEMA = product.schema("plan")


def plan_json(plan: Plan, table: Sequence[TableLine] = ()) -> dict[str, object]:
    """Return the document; `table` adds one entry per number of layers."""
    placed, situation = plan.placement, plan.situation
    document: dict[str, object] = {
        "schema": SCHEMA,
        "source": placed.source,
        "model": _model(plan.model),
        "request": _request(situation.request),
        "build": situation.build,
        "devices": [_device(device) for device in plan.devices],
        "host": to_plain(situation.host),
        "rows": [_row(row) for row in placed.rows],
        "beside": [_beside(one) for one in plan.beside],
        "mapped_bytes": placed.mapped_bytes,
        "output_bytes": placed.output_bytes,
        "embedding_bytes": placed.embedding_bytes,
        "kv": [_cache(one) for one in placed.caches],
        "layers": [_layer(layer) for layer in placed.layers],
        "ngl": placed.ngl,
        "layers_total": placed.layers_total,
        "ctx": placed.context.n_ctx,
        "ctx_slot": placed.context.n_ctx_seq,
        "slots": placed.context.n_seq_max,
        "f": placed.f,
        "f_source": planning.F_SOURCE,
        "f_layers": placed.f_layers,
        "reads": _reads(plan),
        "r": estimate(situation.r),
        "slowdown": estimate(plan.prediction.slowdown),
        "slowdown_reason": plan.prediction.reason,
        **_pace(plan.pace),
        "fit": _fit(plan.fit),
        "not_calculated": list(plan.not_calculated),
    }
    if table:
        document["table"] = [_line(line) for line in table]
    return document


def _beside(one: Beside) -> dict[str, object]:
    return {
        "kind": one.kind.value,
        "name": one.name,
        "rows": [_row(row) for row in one.rows],
        "verified": one.is_verified,
        "note": one.note,
    }


def estimate(figure: Estimate | None) -> dict[str, object] | None:
    """Return a measured or estimated figure with its range, source and kind; None stays null."""
    if figure is None:
        return None
    return {
        "value": figure.value,
        "low": figure.low,
        "high": figure.high,
        "source": figure.source,
        "kind": figure.kind.value,
    }


def _pace(pace: Pace) -> dict[str, object]:
    return {
        "generation_tps": estimate(pace.generation),
        "generation_reason": pace.generation_why,
        "prompt_tps": estimate(pace.prompt),
        "prompt_reason": pace.prompt_why,
        "prompt_tokens": PROMPT_TOKENS,
        "prompt_s": estimate(pace.prompt_time),
    }


def _model(model: Model) -> dict[str, object]:
    number = model.keys.get("general.file_type")
    return {
        "name": model.name,
        "architecture": model.arch,
        "file_type": quants.FILE_TYPES.get(number) if isinstance(number, int) else None,
        "file_bytes": model.file_bytes,
        "tensor_bytes": model.tensor_bytes,
        "tensors": len(model.tensors),
        "problems": [
            {
                "fault": problem.fault.value,
                "text": problem.text,
                "missing_bytes": problem.missing_bytes,
                "tensor": problem.tensor,
            }
            for problem in model.problems
        ],
        "source": "GGUF header",
    }


def _request(request: LoadRequest) -> dict[str, object]:
    plain = to_plain(request)
    assert isinstance(plain, dict)
    return {"program": plain.pop("tool"), **plain}


def _device(device: Device) -> dict[str, object]:
    return {
        "id": device.id,
        "kind": device.kind.value,
        "description": device.description,
        "total_bytes": device.total_bytes,
        "free_bytes": device.free_bytes,
        "max_buffer_bytes": weights.limit_of(device),
        "driver_bytes": _driver(device),
        "source": device.source,
    }


def _driver(device: Device) -> dict[str, object] | None:
    """Return what verdicts keep for the driver's own use, in no row of llama.cpp's."""
    found = overhead_of(device)
    if found is None:
        return None
    return {
        "value": found.n_bytes,
        "low": found.low,
        "high": found.high,
        "source": found.source,
        "kind": Kind.TABLE.value,
    }


def _row(row: Row) -> dict[str, object]:
    return {
        "buffer": row.buffer,
        "kind": "host" if row.is_host else "device",
        "weights_bytes": row.weights_bytes,
        "context_bytes": row.context_bytes,
        "compute_bytes": row.compute_bytes,
        "compute_low_bytes": row.compute_low_bytes,
        "compute_high_bytes": row.compute_high_bytes,
    }


def _cache(one: Cache) -> dict[str, object]:
    return {
        "cells": one.cells,
        "layers": len(one.layers),
        "streams": one.streams,
        "window": one.is_swa,
        "bytes": one.n_bytes,
    }


def _layer(layer: LayerPlace) -> dict[str, object]:
    return {
        "index": layer.index,
        "device": layer.device,
        "weights_bytes": layer.weights_bytes,
        "context_bytes": layer.context_bytes,
        "host_weights_bytes": layer.host_weights_bytes,
    }


def _reads(plan: Plan) -> dict[str, object]:
    counted = plan.placement.reads
    names = [device.id for device in plan.devices]
    return {
        "total_bytes": counted.total_bytes,
        "host_bytes": counted.host_bytes,
        "devices": [
            {"device": name, "bytes": n_bytes}
            for name, n_bytes in zip(names, counted.device_bytes, strict=True)
        ],
        "fill": plan.placement.fill,
        "source": "bytes read per generated token, calculated from the GGUF header",
    }


def _fit(result: FitResult) -> dict[str, object]:
    return {
        "ngl": result.layers,
        "ctx": result.ctx,
        "tensor_split": list(result.tensor_split),
        "overrides": [f"{pattern}={buffer}" for pattern, buffer in result.overrides],
        "refused": result.refused,
        "steps": [{"text": step.text, "log_line": step.log_line} for step in result.steps],
        "not_calculated": result.not_calculated,
        "source": "calculated by the rules of llama.cpp's --fit (build 11434)",
    }


def _line(line: TableLine) -> dict[str, object]:
    return {
        "ngl": line.ngl,
        "device_bytes": line.device_bytes,
        "host_bytes": line.host_bytes,
        "f": line.f,
        "slowdown": estimate(line.prediction.slowdown),
        "generation_tps": estimate(line.pace.generation),
        "fits": line.fits,
    }
