"""The notebook as a table for a spreadsheet: one line per rate."""

import csv
import io

from app.core.bench import MAIN_SETTINGS, BenchRun
from app.work.notebook import Entry

# of the settings those that explain a rate; the rest is in the notebook itself
_COLUMNS = (
    "time_utc", "run_id", "model", "model_bytes", "build", "instrument", "backends", "test",
    "n_tokens", "depth", "mean_tps", "low_tps", "high_tps", "n", *MAIN_SETTINGS, "busy", "machine",
    "device_weights_bytes", "host_weights_bytes",
)  # fmt: skip


def as_csv(entries: tuple[Entry, ...]) -> str:
    """Return runs as CSV with a heading; what is not known is empty, never 0."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(_COLUMNS)
    for entry in entries:
        for run in entry.runs:
            writer.writerow(["" if value is None else value for value in _row(entry, run)])
    return text.getvalue()


def _row(entry: Entry, run: BenchRun) -> tuple[object, ...]:
    return (
        entry.time, entry.run_id, run.model_name or entry.model, run.model_bytes, run.build,
        run.instrument, run.backends, run.test.value, run.n_tokens, run.depth, run.mean_tps,
        run.low_tps, run.high_tps, run.n, *(run.setting(name) for name in MAIN_SETTINGS), run.busy,
        "; ".join(entry.machine), entry.placement.device_weights_bytes,
        entry.placement.host_weights_bytes,
    )  # fmt: skip
