"""The guided run: header, machine, load, log, rates; everything it saw becomes one Evidence."""

import os
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from app.core import units
from app.core.bench import BenchRun
from app.core.errors import UserError
from app.core.evidence import Evidence, LoadOutcome, TextCheck
from app.core.forecast import happened
from app.core.log import LoadStory, LogSummary
from app.core.machine import Device, Machine, Program, Runtime
from app.core.model import Model
from app.core.request import LoadRequest, Tool
from app.core.variables import that_matter
from app.work import bench_runner, load_probe, server_bench, text_check
from app.work.bench_runner import BenchPlan, stamped, summary
from app.work.load_probe import Load, LoadPlan
from app.work.notebook import Notebook, history_of
from app.work.outcome import Outcome
from app.work.record import machine_words
from app.work.rpc_servers import own_processes
from app.work.server_bench import ServerPlan
from app.work.steps import FirstOf, Script, Steps
from app.work.watch import Watch, Watched, busy_text

READ_HEADER = "Reading the model's header"
FIND_PROGRAMS = "Looking for llama.cpp and its devices"
LOAD_MODEL = "Loading the model with llama-server"
MEASURE = "Measuring prompt and generation"
READ_LOG = "Reading the log of the load"
# an answer in five minutes (product.md): each of the two rates may take one of them
_RATE_BUDGET_S = 60.0
_LEAST_PROMPT, _LEAST_GEN = 64, 16  # fewer say little (logs.md section 0, rule 9)


@dataclass(frozen=True, slots=True)
class DiagnosePlan:
    """What to look into; with an Evidence that has the machine, the machine is not read again."""

    model_path: str
    request: LoadRequest = field(default_factory=LoadRequest)
    llama_folders: tuple[str, ...] = ()  # the user's own, looked into first
    base: Evidence = field(default_factory=Evidence)
    n_prompt: int = 512
    n_gen: int = 128
    repetitions: int = 3
    load_timeout_s: float = 600.0
    notebook: Notebook | None = None  # where earlier runs of the model are, None = not asked
    keeps_lengths: bool = False  # measure as many tokens as asked, however slow it is


@dataclass(frozen=True, slots=True)
class DiagnoseResult:
    """The evidence, and the log of the load on this computer, "" when there was no load."""

    evidence: Evidence
    log_path: str = ""


@dataclass(slots=True)
class _Seen:
    """What the run has seen so far."""

    model: Model
    machine: Machine
    notes: list[str] = field(default_factory=list)
    load: Load | None = None
    outcome: LoadOutcome | None = None
    log: LogSummary | None = None
    runs: tuple[BenchRun, ...] = ()
    watch: Watched | None = None
    history: tuple[BenchRun, ...] = ()
    texts: tuple[TextCheck, ...] = ()


class DiagnoseRun(Steps):
    """Runs the steps; done brings a DiagnoseResult, also when no llama.cpp is there."""

    def start(self, plan: DiagnosePlan) -> None:
        """Begin; everything else comes by signals."""
        self.run(self.diagnosed(plan))

    def diagnosed(self, plan: DiagnosePlan) -> Script[DiagnoseResult]:
        """Do the steps as a part of a script."""
        model: Model = yield from self._model(plan)
        machine: Machine = yield from _machine(
            self, plan.llama_folders, plan.base.machine, plan.request.rpc_servers
        )
        runtime = choose_runtime(machine.runtimes)
        server = _program(runtime, Tool.SERVER)
        if plan.request.rpc_servers and server is not None:
            machine = yield from _with_rpc(self, machine, server, plan.request.rpc_servers)
        seen = _Seen(model, machine)
        bench = _program(runtime, Tool.BENCH)
        if server is None:
            seen.notes.append(
                "No llama-server was found on this computer, so the model was not loaded: "
                "choose a folder that has it."
            )
        else:
            plan = yield from self._load(plan, seen, server, measures_itself=bench is None)
        if bench is None and server is None:
            seen.notes.append("No llama-bench was found, so no rate was measured.")
        elif bench is not None and (server is None or (seen.outcome and seen.outcome.is_ready)):
            yield from self._bench(plan, seen, bench)
        if plan.notebook is not None:
            seen.history = yield from self._history(plan.notebook, model, machine)
        return self._result(plan, seen)

    def _history(
        self, notebook: Notebook, model: Model, machine: Machine
    ) -> Script[tuple[BenchRun, ...]]:
        """Return earlier rates of the model, none when the notebook cannot be read."""
        try:
            found: tuple[BenchRun, ...] = yield self.job(
                lambda _cancel, _progress: history_of(
                    notebook.read(), model.name, machine_words(machine)
                ),
                "notebook",
            )
        except OSError:  # then nothing is predicted, and the prediction says what is missing
            return ()
        return found

    def _model(self, plan: DiagnosePlan) -> Script[Model]:
        from app.gguf.model import read_model

        self.begin(READ_HEADER)
        path = plan.model_path
        model: Model = yield self.job(lambda cancel, _progress: read_model(path, cancel), "header")
        self.end(f"{model.name}: {model.arch}, {units.size(model.file_bytes)}")
        return model

    def _load(
        self, plan: DiagnosePlan, seen: _Seen, server: Program, *, measures_itself: bool
    ) -> Script[DiagnosePlan]:
        """Load the model, and return the plan with as many tokens as this computer can do soon."""
        self.begin(LOAD_MODEL)
        request = replace(plan.request, tool=Tool.SERVER)
        load = yield from load_probe.start(
            self, LoadPlan(server, plan.model_path, request, plan.load_timeout_s)
        )
        seen.load = load
        if load.is_ready:
            try:
                plan = yield from self._shortened(plan, seen, load)
                self.end(f"ready after {units.seconds(load.load_s)}")
                if text_check.is_wanted(plan.base.symptom):
                    seen.texts += yield from text_check.checked(self, load, request, seen.notes)
                if measures_itself:
                    yield from self._serve(plan, seen, load)
            except UserError as error:
                seen.notes.append(f"The rates could not be measured. {error.sentence()}")
                self.fail(error.title)
        else:
            self.fail(load.why_not)
        stopped = yield from load_probe.stop(load)
        seen.outcome = load.outcome(stopped)
        yield from self._log(seen, load)
        seen.texts += yield from text_check.checked_plain(
            self, LoadPlan(server, plan.model_path, request, plan.load_timeout_s), seen.texts,
            seen.notes,
        )  # fmt: skip
        return plan

    def _shortened(self, plan: DiagnosePlan, seen: _Seen, load: Load) -> Script[DiagnosePlan]:
        """Look how fast it is roughly, and measure with fewer tokens when it is very slow."""
        if plan.keeps_lengths:
            return plan
        look = self.job(lambda cancel, _progress: server_bench.look(load.endpoint, cancel), "look")
        rough = yield FirstOf(look, load.end)
        if isinstance(rough, Outcome):
            raise UserError("llama-server ended at its first request", rough.sentence())
        shorter = shortened(plan, *rough)
        if shorter != plan:
            seen.notes.append(
                f"The model is slow here, so it was measured with {shorter.n_prompt} prompt and "
                f"{shorter.n_gen} generated tokens."
            )
        return shorter

    def _log(self, seen: _Seen, load: Load) -> Script[None]:
        from app.logs.scan import scan_file

        self.begin(READ_LOG)
        try:
            seen.log = yield self.job(
                lambda cancel, progress: scan_file(load.log_path, cancel, progress), "log"
            )
        except UserError as error:
            seen.notes.append(error.sentence())
            self.fail(error.title)
            return
        story = seen.log.load if seen.log else None
        seen.runs = tuple(labelled(run, story) for run in seen.runs)
        self.end(_placed(story))

    def _bench(self, plan: DiagnosePlan, seen: _Seen, bench: Program) -> Script[None]:
        """Measure with llama-bench and the placement that really happened."""
        self.begin(MEASURE)
        request = bench_request(seen.model, seen.machine, plan.request, seen.log)
        bench_plan = BenchPlan(
            bench, plan.model_path, request, plan.n_prompt, plan.n_gen,
            repetitions=plan.repetitions,
        )  # fmt: skip
        try:
            result = yield from bench_runner.measure(self, bench_plan)
        except UserError as error:
            seen.notes.append(f"The rates could not be measured. {error.sentence()}")
            self.fail(error.title)
            return
        seen.runs, seen.watch = result.runs, result.watched
        seen.notes += [f"llama-bench cannot be told: {name}" for name in result.left_out]
        self.end(summary(result.runs))

    def _serve(self, plan: DiagnosePlan, seen: _Seen, load: Load) -> Script[None]:
        """Measure through the server itself, where there is no llama-bench beside it."""
        self.begin(MEASURE)
        what = ServerPlan(
            plan.n_prompt, plan.n_gen, plan.repetitions,
            model_name=seen.model.name, model_bytes=seen.model.file_bytes,
        )  # fmt: skip
        also = yield from own_processes(self, plan.request)
        watch = Watch(self.jobs, also=also)
        watch.start()
        rates = self.job(
            lambda cancel, progress: server_bench.measure(load.endpoint, what, cancel, progress),
            "rates",
        )
        try:
            # both, so that cancelling stops the server, which ends the request that it answers
            first = yield FirstOf(rates, load.end)
        finally:
            watch.sample()
            seen.watch = watch.stop()
        if isinstance(first, Outcome):
            raise UserError("llama-server ended while it was measured", first.sentence())
        seen.runs = stamped(list(first), busy_text(seen.watch.memory if seen.watch else None))
        seen.notes.append(
            "There is no llama-bench beside this llama-server: the rates are the server's own "
            "timings."
        )
        self.end(summary(seen.runs))

    def _result(self, plan: DiagnosePlan, seen: _Seen) -> DiagnoseResult:
        evidence = Evidence(
            model=seen.model,
            machine=seen.machine,
            request=plan.request,
            outcome=seen.outcome,
            log=seen.log,
            runs=seen.runs,
            watch=seen.watch.memory if seen.watch else None,
            gpu_watch=seen.watch.gpu if seen.watch else None,
            track=seen.watch.track if seen.watch else None,
            symptom=plan.base.symptom,
            text_checks=seen.texts,
            variables=that_matter(os.environ),  # the programs that we start inherit ours
            notes=tuple(seen.notes),
            history=seen.history,
        )
        return DiagnoseResult(evidence, str(seen.load.log_path) if seen.load else "")


class MachineRun(Steps):
    """Only looks what is there; done brings a Machine."""

    def start(self, llama_folders: tuple[str, ...]) -> None:
        """Look; everything else comes by signals."""
        self.run(_machine(self, llama_folders, None))


def choose_runtime(runtimes: Iterable[Runtime]) -> Runtime | None:
    """Return the first llama.cpp that has a server, else one that has at least llama-bench."""
    own = [runtime for runtime in runtimes if runtime.id == "llama.cpp"]
    for tool in (Tool.SERVER, Tool.BENCH):
        found = next((runtime for runtime in own if _program(runtime, tool)), None)
        if found is not None:
            return found
    return None


def shortened(plan: DiagnosePlan, prompt_tps: float, generation_tps: float) -> DiagnosePlan:
    """Return the plan with at most so many tokens that each rate takes a minute."""
    runs = plan.repetitions + 1  # and the one that is thrown away
    most_prompt = max(_LEAST_PROMPT, int(prompt_tps * _RATE_BUDGET_S / runs))
    most_gen = max(_LEAST_GEN, int(generation_tps * _RATE_BUDGET_S / runs))
    return replace(plan, n_prompt=min(plan.n_prompt, most_prompt), n_gen=min(plan.n_gen, most_gen))


def bench_request(
    model: Model, machine: Machine, request: LoadRequest, log: LogSummary | None
) -> LoadRequest:
    """Return what llama-bench is to load, so that it measures the placement that happened."""
    story = log.load if log else None
    moved = happened(Evidence(model=model, machine=machine, request=request, log=log)).overrides
    return replace(request, ngl=placed_layers(story, request), overrides=moved, tool=Tool.BENCH)


def placed_layers(story: LoadStory | None, request: LoadRequest) -> int | None:
    """Return n_gpu_layers of what really happened: the buffers decide, not the offload line.

    llama.cpp prints "offloaded N/N" whenever a GPU backend is compiled in (logs.md section 0).
    """
    if story is None or story.weights_on_device is None:
        return request.ngl
    if not story.weights_on_device:
        return 0
    return story.offload_line[0] if story.offload_line else request.ngl


def _machine(
    steps: Steps, llama_folders: tuple[str, ...], known: Machine | None, rpc: tuple[str, ...] = ()
) -> Script[Machine]:
    from app.probes.host import RealHost
    from app.work.kept_facts import with_kept
    from app.work.machine_reader import read_machine

    steps.begin(FIND_PROGRAMS)
    machine = known
    if machine is None:
        machine = yield steps.job(
            lambda cancel, _: with_kept(read_machine(RealHost(), llama_folders, cancel)), "machine"
        )
    assert machine is not None
    steps.end(found_text(machine, rpc))
    return machine


def _with_rpc(
    steps: Steps, machine: Machine, server: Program, rpc_servers: tuple[str, ...]
) -> Script[Machine]:
    """Return the machine with the devices that the program reaches by RPC as well."""
    from app.probes.host import RealHost
    from app.runtimes.llama_cpp import ask_devices

    asked = yield steps.job(
        lambda _cancel, _progress: ask_devices(RealHost(), server.path, rpc=",".join(rpc_servers)),
        "devices by RPC",
    )
    if not asked.devices:
        return machine
    return replace(machine, devices=asked.devices, devices_source=asked.source)


def _program(runtime: Runtime | None, tool: Tool) -> Program | None:
    if runtime is None:
        return None
    return next((program for program in runtime.programs if program.name == tool.value), None)


def labelled(run: BenchRun, story: LoadStory | None) -> BenchRun:
    """Give a rate of the server the settings that its log names."""
    if story is None:
        return run
    ngl = placed_layers(story, LoadRequest())
    # with -ngl 0 a device still computes long prompts: that is not the run without a device
    devices = "/".join(story.used_devices) or "none"
    named = (
        ("n_gpu_layers", None if ngl is None else str(ngl)),
        ("devices", devices if story.weights_on_device is False else None),
        ("type_k", story.cache_type_k),
        ("type_v", story.cache_type_v),
        ("flash_attn", story.flash_attn),
        ("n_ctx", None if story.n_ctx is None else str(story.n_ctx)),
    )
    settings = tuple((name, value) for name, value in named if value is not None)
    backends = ", ".join(story.devices) or "CPU"
    build = str(story.build) if story.build else ""
    return replace(run, settings=settings, build=build, backends=backends)


def found_text(machine: Machine, rpc: tuple[str, ...]) -> str:
    """Say which program was found, and its devices; those by RPC are known once it has loaded."""
    runtime = choose_runtime(machine.runtimes)
    if runtime is None:
        return "no llama.cpp found"
    by_rpc = [f"RPC server {', '.join(rpc)}"] if rpc else []
    devices = ", ".join([*map(_shown, machine.devices), *by_rpc]) or "no device"
    return (
        f"{runtime.title} {runtime.version or 'of unknown version'} in {runtime.folder}: {devices}"
    )


def _shown(device: Device) -> str:
    return f"{device.id} ({device.description})"


def _placed(story: LoadStory | None) -> str:
    if story is None or story.weights_on_device is None:
        return "the log does not show where the weights are"
    on_device = story.device_weight_bytes()
    if not on_device and story.is_device_computing:
        return f"no weights on devices, long prompts on {', '.join(story.used_devices)}"
    return f"{units.mib(on_device)} of weights on devices" if on_device else "all on the processor"
