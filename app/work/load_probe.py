"""The load probe: starts llama-server for one model, waits until it is ready, and stops it."""

import re
import secrets
import socket
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from app import paths
from app.core.errors import UserError
from app.core.evidence import LoadOutcome
from app.core.machine import Program
from app.core.request import LoadRequest
from app.runtimes import llama_argv
from app.work import server_bench
from app.work.outcome import End, Outcome
from app.work.server_client import HOST, Endpoint
from app.work.steps import FirstOf, JobEnd, ProcessEnd, Script, Steps

KEEP_LOGS = 20
_ATTEMPTS = 3
_PORT_TAKEN = re.compile(r"couldn't bind HTTP server socket|bind.*(?:in use|failed)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class LoadPlan:
    """What to load with which llama-server."""

    program: Program
    model_path: str
    request: LoadRequest
    timeout_s: float = 600.0
    env: tuple[tuple[str, str], ...] = ()


@dataclass(slots=True)
class Load:
    """A llama-server that was started; why_not is empty when it is ready."""

    end: ProcessEnd
    endpoint: Endpoint
    command: tuple[str, ...]
    log_path: Path
    load_s: float
    why_not: str = ""

    @property
    def is_ready(self) -> bool:
        """Tell whether the model was loaded and the server answered."""
        return not self.why_not

    def outcome(self, stopped: Outcome | None = None) -> LoadOutcome:
        """Return how the load went; a server that ended by itself later is told as well."""
        text = self.why_not
        if not text and stopped is not None and stopped.end is not End.STOPPED:
            text = stopped.sentence()
        return LoadOutcome(
            command=self.command,
            program=self.end.process.name,
            is_ready=self.is_ready,
            exit_text=text,
            load_s=self.load_s if self.is_ready else None,
        )


def start(steps: Steps, plan: LoadPlan) -> Script[Load]:
    """Start the server and wait until it is ready, has ended, or the time is over."""
    for attempt in range(_ATTEMPTS):
        load = yield from _start_once(steps, plan)
        # between our finding a free port and the server's taking it, another may come first
        is_taken = any(_PORT_TAKEN.search(line) for line in load.end.process.tail())
        if load.is_ready or not is_taken or attempt == _ATTEMPTS - 1:
            return load
    raise AssertionError("the last attempt returns")


def stop(load: Load) -> Script[Outcome]:
    """Ask the server to end and wait; it prints its memory table then."""
    load.end.process.stop()
    outcome: Outcome = yield load.end
    return outcome


def _start_once(steps: Steps, plan: LoadPlan) -> Script[Load]:
    endpoint = Endpoint(free_port(), secrets.token_urlsafe(24))
    argv = llama_argv.server_argv(plan.program, plan.model_path, plan.request, port=endpoint.port)
    log_path = new_log_path(plan.model_path)
    started = time.monotonic()
    end = steps.program(
        argv, merge=True, log_file=log_path,
        env={**dict(plan.env), llama_argv.API_KEY_VARIABLE: endpoint.key},
    )  # fmt: skip
    ready = steps.job(
        lambda cancel, _progress: server_bench.wait_until_ready(endpoint, plan.timeout_s, cancel),
        "waiting for llama-server",
    )
    why_not = yield from _first(end, ready)
    if why_not:
        ready.cancel()
        yield from _ended(end)
    return Load(end, endpoint, argv, log_path, time.monotonic() - started, why_not)


def _first(end: ProcessEnd, ready: JobEnd) -> Script[str]:
    """Return "" when the server is ready, else why it will not be."""
    try:
        outcome = yield FirstOf(end, ready)
    except UserError as error:  # the time is over
        return error.detail
    return outcome.sentence() if isinstance(outcome, Outcome) else ""


def _ended(end: ProcessEnd) -> Script[None]:
    end.process.stop()
    yield end


def free_port() -> int:
    """Return a port of this computer's loopback address that nobody uses now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as found:
        found.bind((HOST, 0))
        return int(found.getsockname()[1])


def new_log_path(model_path: str) -> Path:
    """Return where a load's log goes; of the logs before it the newest are kept."""
    folder = paths.user_cache() / "loads"
    old = sorted(folder.glob("*.log")) if folder.is_dir() else []
    for path in old[: -(KEEP_LOGS - 1)] if len(old) >= KEEP_LOGS else []:
        path.unlink(missing_ok=True)
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    name = re.sub(r"[^\w.-]+", "_", Path(model_path).stem)[:60]
    return folder / f"{stamp}-{name}-{secrets.token_hex(2)}.log"
