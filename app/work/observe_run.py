"""Watches a runtime that runs already, while the user's own request runs; nothing is restarted."""

from dataclasses import dataclass
from pathlib import Path

from app.core import units
from app.core.errors import UserError
from app.core.evidence import Evidence, GpuWatch, MemoryWatch, TextCheck
from app.core.host import Host
from app.core.log import LogSummary
from app.core.machine import LoadedModel, Machine, Runtime
from app.core.model import Model
from app.core.track import Track
from app.probes.live import LiveMeter
from app.probes.sampler import Meter, Sampler
from app.runtimes import llama_cpp, llama_words, ports
from app.runtimes.answers import items
from app.runtimes.processes import title_of
from app.work import observed_text, text_check
from app.work.diagnose_run import DiagnoseResult
from app.work.jobs import Cancel, Progress
from app.work.steps import Script, Steps
from app.work.watch import summed_up

FIND_RUNNING = "Looking which programs run a model"
READ_LOADED = "Reading what is loaded"
READ_ITS_LOG = "Reading its log"
WATCH = "Watching memory and processor while your request runs"
_INTERVAL_S = 0.5
_SOURCES = {  # whose logs log_places finds, by the runtime's id
    "llama.cpp": ("llama.cpp",), "ollama": ("Ollama",), "lm-studio": ("LM Studio",),
    "jan": ("Jan",),
}  # fmt: skip
_NEED_LOG = (
    "{} keeps no log where this program could find one, so the placement is not known. Start it "
    "with --log-file and -lv 4, or open its log here."
)
_NO_REQUEST = (
    "No request ran while it was watched. Ask your model something, and watch again while it "
    "answers."
)


@dataclass(frozen=True, slots=True)
class ObservePlan:
    """What to watch; port None = the first runtime that holds a model."""

    llama_folders: tuple[str, ...] = ()
    port: int | None = None
    seconds: float = 20.0
    symptom: str = ""


@dataclass(frozen=True, slots=True)
class Watched:
    """What was seen of a running program; is_busy None = it could not be told."""

    watch: MemoryWatch
    is_busy: bool | None
    n_slots: int | None = None  # slots that computed at once, at most; None = it does not say
    gpu: GpuWatch | None = None
    track: Track | None = None


class ObserveRun(Steps):
    """Does the steps; done brings a DiagnoseResult without rates."""

    def start(self, plan: ObservePlan) -> None:
        """Begin; everything else comes by signals."""
        self.run(self._observed(plan))

    def _observed(self, plan: ObservePlan) -> Script[DiagnoseResult]:
        machine: Machine = yield from self._machine(plan)
        runtime = chosen(machine.runtimes, plan.port)
        notes = list(_told(runtime))
        request = llama_words.request_of(runtime.argv) if runtime.argv else None
        model: Model | None = yield from self._model(runtime, notes)
        log, path = yield from self._log(runtime, notes)
        environment = yield from observed_text.variables(self, runtime, notes)
        watched: Watched = yield from self._watch(runtime, plan.seconds)
        texts: tuple[TextCheck, ...] = ()
        if text_check.is_wanted(plan.symptom):
            texts = yield from observed_text.checked(self, runtime, notes)
        if watched.is_busy is False:
            notes.append(_NO_REQUEST)
        notes.append(
            "No rate was measured: that takes a run of its own, which would share the processor "
            "and the device with your program."
        )
        is_seen = watched.is_busy is not False
        evidence = Evidence(
            model=model,
            machine=machine,
            request=request,
            log=log,
            watch=watched.watch if is_seen else None,
            gpu_watch=watched.gpu if is_seen else None,
            track=watched.track if is_seen else None,
            symptom=plan.symptom,
            text_checks=texts,
            variables=environment,
            runtime=runtime.id,
            runtime_version=runtime.version or "",
            notes=tuple(notes),
        )
        return DiagnoseResult(evidence, path)

    def _machine(self, plan: ObservePlan) -> Script[Machine]:
        from app.probes.host import RealHost
        from app.work.kept_facts import with_kept
        from app.work.machine_reader import read_machine

        self.begin(FIND_RUNNING)
        machine: Machine = yield self.job(
            lambda cancel, _: with_kept(read_machine(RealHost(), plan.llama_folders, cancel)),
            "machine",
        )
        self.end(", ".join(r.title for r in machine.runtimes if r.is_running) or "none runs")
        return machine

    def _model(self, runtime: Runtime, notes: list[str]) -> Script[Model | None]:
        """Read the header of the file that the program was started with, when it is known."""
        from app.gguf.model import read_model

        self.begin(READ_LOADED)
        path = llama_words.model_of(runtime.argv)
        if not path:
            self.end("its file is not known")
            notes.append(
                f"{runtime.title} does not say which file it loaded, so the bytes of the layers "
                "are not known."
            )
            return None
        try:
            model: Model = yield self.job(
                lambda cancel, _progress: read_model(path, cancel), "header"
            )
        except UserError as error:
            notes.append(error.sentence())
            self.fail(error.title)
            return None
        self.end(f"{model.name}: {model.arch}, {units.size(model.file_bytes)}")
        return model

    def _log(self, runtime: Runtime, notes: list[str]) -> Script[tuple[LogSummary | None, str]]:
        from app.logs.scan import scan_file
        from app.work.log_finder import look_for_logs

        self.begin(READ_ITS_LOG)
        places = yield self.job(look_for_logs, "logs")
        path = next(
            (log.path for log in places.logs if log.source in _SOURCES.get(runtime.id, ())), ""
        )
        if not path:
            told = places.commands[0] if places.commands and runtime.id == "ollama" else ""
            get = f" Or: {told}, then open the file." if told else ""
            notes.append(_NEED_LOG.format(runtime.title) + get)
            self.end("none was found")
            return None, ""
        try:
            log: LogSummary = yield self.job(
                lambda cancel, progress: scan_file(Path(path), cancel, progress), "log"
            )
        except UserError as error:
            notes.append(error.sentence())
            self.fail(error.title)
            return None, ""
        self.end(f"{units.count(log.n_lines)} lines")
        return log, path

    def _watch(self, runtime: Runtime, seconds: float) -> Script[Watched]:
        from app.probes.host import RealHost

        self.begin(WATCH)
        watched: Watched = yield self.job(
            lambda cancel, progress: watch(RealHost(), runtime, seconds, cancel, progress), "watch"
        )
        busy = {True: "a request ran", False: "no request ran", None: "its requests are not seen"}
        self.end(f"{units.seconds(watched.watch.seconds)}, {busy[watched.is_busy]}")
        return watched


def chosen(runtimes: tuple[Runtime, ...], port: int | None = None) -> Runtime:
    """Return the runtime to watch; UserError when none runs with a model."""
    running = [r for r in runtimes if r.is_running and (port is None or r.port == port)]
    held = next((runtime for runtime in running if runtime.loaded), None)
    if held is not None:
        return held
    names = ", ".join(runtime.title for runtime in running)
    raise UserError(
        "No model is loaded now",
        f"{names} runs, but says of no model that it is loaded." if names
        else "No runtime that this program knows runs on this computer.",
        "Ask your model something first, then watch while it answers.",
    )  # fmt: skip


def watch(
    host: Host, runtime: Runtime, seconds: float, cancel: Cancel, progress: Progress,
    *, meter: Meter | None = None,
) -> Watched:  # fmt: skip
    """Sample memory and processor, and ask whether a request runs; the program is only asked."""
    pids = observed_text.pids_of(host, runtime)
    sampler = Sampler(lambda: pids, meter)
    live = LiveMeter(meter, name=title_of, own=pids)
    sampler.start()
    readings = [live.read()]
    most: int | None = None
    steps = max(1, round(seconds / _INTERVAL_S))
    try:
        for step in range(steps):
            cancel.wait(_INTERVAL_S)
            sampler.sample()
            readings.append(live.read())
            slots = busy_slots(host, runtime)
            if slots is not None:
                most = max(most or 0, slots)
            left = seconds - (step + 1) * _INTERVAL_S
            progress(100 * (step + 1) // steps, f"{left:.0f} s left: let your request run now")
        seen = summed_up(sampler.result(), tuple(readings), live.source())
    finally:
        live.close()
    is_busy = None if most is None else most > 0
    return Watched(seen.memory, is_busy, most, seen.gpu, seen.track)


def busy_slots(host: Host, runtime: Runtime) -> int | None:
    """Return how many requests are computed now, None when the program does not say."""
    if runtime.port is None or runtime.id != llama_cpp.ID:
        return None
    answer = ports.get(host, runtime.port, "/slots")
    slots = items(answer.body) if answer.status == 200 else ()
    if not slots:
        return None
    return sum(slot.get("is_processing") is True for slot in slots)


def _told(runtime: Runtime) -> tuple[str, ...]:
    """Say what the runtime itself tells of its loaded models."""
    return tuple(_sentence(runtime, model) for model in runtime.loaded)


def _sentence(runtime: Runtime, model: LoadedModel) -> str:
    text = f"{runtime.title} holds {model.name}"
    if model.n_bytes and model.device_bytes is not None:
        share = units.percent(model.device_bytes / model.n_bytes)
        text += (
            f": {units.size(model.device_bytes)} of {units.size(model.n_bytes)} ({share}) in "
            "device memory"
        )
    if model.ctx:
        text += f", context {units.count(model.ctx)}"
    return f"{text} ({runtime.source})."
