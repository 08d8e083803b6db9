"""The Benchmark tab's values: what to measure, rates with intervals, two runs compared."""

from dataclasses import dataclass

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QIcon

from app.core import units
from app.core.bench import BenchRun, Change, Test
from app.core.machine import Machine, Program
from app.core.reading import Estimate
from app.core.request import LoadRequest, Tool
from app.ui.models.table import Index, Table
from app.work.bench_runner import BenchPlan
from app.work.notebook import Comparison, Entry, compare_entries

ENTRY_ROLE = Qt.ItemDataRole.UserRole + 1
_COLUMNS = ("Time (UTC)", "Model", "n_gpu_layers", "Prompt", "Generation", "Build", "Remark")
_WORDS = {
    Change.FASTER: "faster",
    Change.SLOWER: "slower",
    Change.SAME: "no difference",
    Change.UNSURE: "cannot tell, the intervals are too wide",
    Change.DISTURBED: "not told apart, other programs computed",
    Change.UNDECIDED: "too few repetitions to tell",
}


@dataclass(frozen=True, slots=True)
class BenchChoice:
    """What the user set; threads 0 = the program's default, ngl -1 = all layers."""

    ngl: int
    uses_devices: bool
    threads: int
    cache_type_k: str
    cache_type_v: str
    n_prompt: int
    n_gen: int
    depth: int
    repetitions: int


@dataclass(frozen=True, slots=True)
class RateBar:
    """A measured rate to draw: its name, mean, ends of the interval, and words for it."""

    label: str
    mean: float
    low: float
    high: float
    text: str


def plan(program: Program, model_path: str, choice: BenchChoice) -> BenchPlan:
    """Return the plan of one run."""
    return BenchPlan(
        program=program,
        model_path=model_path,
        request=LoadRequest(
            tool=Tool.BENCH,
            ngl=None if choice.ngl < 0 else choice.ngl,
            use_devices=choice.uses_devices,
            threads=choice.threads or None,
            cache_type_k=choice.cache_type_k,
            cache_type_v=choice.cache_type_v,
        ),
        n_prompt=choice.n_prompt,
        n_gen=choice.n_gen,
        depth=choice.depth,
        repetitions=choice.repetitions,
    )


def llama_bench(machine: Machine | None) -> Program | None:
    """Return the first llama-bench that was found, None when there is none."""
    found = (p for r in (machine.runtimes if machine else ()) for p in r.programs)
    return next((program for program in found if program.name == "llama-bench"), None)


def bars(entries: tuple[Entry, ...], test: Test) -> tuple[RateBar, ...]:
    """Return the rates of one test, oldest first."""
    found = []
    newest = next((run for entry in reversed(entries) if (run := _run(entry, test))), None)
    for entry in entries:
        run = _run(entry, test)
        # lengths that differ make rates that do not compare
        if run is not None and newest is not None and _is_alike(run, newest):
            low, high = run.low_tps, run.high_tps
            if low is not None and low <= 0:
                low = high = None  # a whisker down to zero would look measured
            found.append(
                RateBar(
                    label=f"{entry.time[5:16].replace('T', ' ')}\n{_layers(run)}",
                    mean=run.mean_tps,
                    low=run.mean_tps if low is None else low,
                    high=run.mean_tps if high is None else high,
                    text=rate_text(run),
                )
            )
    return tuple(found)


def chart_title(entries: tuple[Entry, ...], test: Test) -> str:
    """Return what the bars of one test show, with the length of the newest run."""
    run = next((run for entry in reversed(entries) if (run := _run(entry, test))), None)
    if run is None:
        return f"{test.title}, tokens per second"
    depth = f" after {units.count(run.depth)}" if run.depth else ""
    return f"{test.title} of {units.count(run.n_tokens)} tokens{depth}, tokens per second"


def _is_alike(run: BenchRun, newest: BenchRun) -> bool:
    return (run.n_tokens, run.depth) == (newest.n_tokens, newest.depth)


def rate_text(run: BenchRun) -> str:
    """Return a rate with its interval."""
    text = units.rate(run.mean_tps)
    if run.low_tps is None or run.high_tps is None:
        return f"{text} (one repetition)"
    return f"{text} ({units.measured_interval(run.low_tps, run.high_tps)})"


def ratio_text(r: Estimate) -> str:
    """Return a measured r in words."""
    return (
        f"r = {units.times(r.value)} ({units.times_range(r.low, r.high)}): so many times slower "
        "is generation with all layers on the host. The Offload tab uses it."
    )


def comparison_text(before: Entry, after: Entry) -> str:
    """Return both rates of two runs beside each other, and what differed."""
    found = compare_entries(before, after)
    if not found:
        return "These two runs have no rate in common: lengths or depth differ."
    lines = [_one(comparison) for comparison in found]
    differences = found[0].differences
    if differences:
        lines.append("What differed: " + "; ".join(f"{n} {a} → {b}" for n, a, b in differences))
    else:
        lines.append("Nothing that was recorded differed.")
    lines += sorted({comparison.caution for comparison in found if comparison.caution})
    return "\n".join(lines)


def _one(comparison: Comparison) -> str:
    is_apart = comparison.change in (Change.FASTER, Change.SLOWER)
    ratio = comparison.ratio if is_apart else None
    times = f", {ratio:.2f} times the first" if ratio is not None else ""
    return (
        f"{comparison.before.test.title}: {_WORDS[comparison.change]}{times}. "
        f"{rate_text(comparison.before)} → {rate_text(comparison.after)}"
    )


def _run(entry: Entry, test: Test) -> BenchRun | None:
    return next((run for run in entry.runs if run.test is test), None)


def _layers(run: BenchRun) -> str:
    value = _ngl(run)
    return value if value == "no device" else f"ngl {value}"


def _ngl(run: BenchRun | None) -> str:
    if run is None:
        return "–"
    if run.setting("devices") == "none":
        return "no device"
    value = run.setting("n_gpu_layers") or "–"
    return "all" if value == "-1" else value


class RunModel(Table):
    """The notebook, newest first."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(_COLUMNS, parent)
        self._entries: tuple[Entry, ...] = ()
        self._mark: QIcon | None = None

    def show_entries(self, entries: tuple[Entry, ...]) -> None:
        """Show other runs; they come oldest first."""
        self.beginResetModel()
        self._entries = entries[::-1]
        self.endResetModel()

    def set_mark(self, icon: QIcon) -> None:
        """Take the icon of the rows that other programs disturbed."""
        self._mark = icon
        if self._entries:
            last = self.index(len(self._entries) - 1, 0)
            self.dataChanged.emit(self.index(0, 0), last, [Qt.ItemDataRole.DecorationRole])

    def n_rows(self) -> int:
        """Return the number of rows."""
        return len(self._entries)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return a cell's text, or the run behind its row."""
        if not index.isValid():
            return None
        entry = self._entries[index.row()]
        if role == ENTRY_ROLE:
            return entry
        if role == Qt.ItemDataRole.DisplayRole:
            return self._texts(entry)[index.column()]
        if role == Qt.ItemDataRole.AccessibleTextRole and entry.busy and index.column() == 0:
            return f"{self._texts(entry)[0]}, disturbed: {entry.busy}"
        if role == Qt.ItemDataRole.DecorationRole:
            return self._mark if entry.busy and index.column() == 0 else None
        if role == Qt.ItemDataRole.ToolTipRole:
            settings = entry.runs[0].settings if entry.runs else ()
            busy = (f"Disturbed: {entry.busy}",) if entry.busy else ()
            lines = [*busy, *entry.machine, *(f"{name} = {value}" for name, value in settings)]
            return "\n".join(lines)
        return None

    def _texts(self, entry: Entry) -> tuple[str, ...]:
        prompt, generation = _run(entry, Test.PROMPT), _run(entry, Test.GENERATION)
        return (
            entry.time.replace("T", " ").removesuffix("Z"),
            entry.model,
            _ngl(generation or prompt),
            rate_text(prompt) if prompt else "–",
            rate_text(generation) if generation else "–",
            entry.build,
            entry.busy,
        )
