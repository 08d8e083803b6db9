"""Measures both rates through llama-server's own timings, where there is no llama-bench."""

import http.client
from dataclasses import dataclass
from typing import Any

from app.core.bench import BenchRun, Test
from app.core.errors import UserError
from app.work import server_client
from app.work.jobs import Cancel, Progress
from app.work.server_client import Endpoint
from app.work.settings import LOAD_TIMEOUT_S, default_path

INSTRUMENT = "llama-server"
_POLL_S = 0.1
_HEALTH_TIMEOUT_S = 2.0
_REQUEST_TIMEOUT_S = 3600.0  # a large prompt on a slow computer; cancelling stops the server
# tokens of a prompt: any will do, but special ones lie at the ends of a vocabulary
_FIRST_TOKEN, _TOKEN_SPAN = 1000, 500
_END_ARRIVES_S = 0.5
# 64, because a batch takes as long as one token when memory is slow; and from 2 to 32 tokens
# Mesa's llvmpipe crashes in build 10434 (run: 8, 16 and 32 end with SIGSEGV, 1, 40 and 64 do not)
_LOOK_PROMPT, _LOOK_GEN = 64, 5
_ROOM = 8  # cells of the context that a request leaves free


@dataclass(frozen=True, slots=True)
class ServerPlan:
    """What to measure through the server, and with what the rates are to be labelled."""

    n_prompt: int = 512
    n_gen: int = 128
    repetitions: int = 3
    settings: tuple[tuple[str, str], ...] = ()
    build: str = ""
    model_name: str = ""
    model_bytes: int | None = None
    backends: str = ""


def wait_until_ready(endpoint: Endpoint, timeout_s: float, cancel: Cancel) -> None:
    """Return when the model is loaded; /health says 503 until then (llama.cpp tools/server)."""
    waited = 0.0
    while waited < timeout_s:
        cancel.wait(_POLL_S)
        waited += _POLL_S
        if _health(endpoint) == 200:
            return
    raise UserError(
        "The model did not load in time",
        f"llama-server was not ready after {timeout_s:.0f} s.",
        "Try again: parts of the file may be in memory by then. "
        f"For a longer wait set {LOAD_TIMEOUT_S.key} in {default_path()}.",
    )


def measure(
    endpoint: Endpoint, plan: ServerPlan, cancel: Cancel, progress: Progress
) -> tuple[BenchRun, ...]:
    """Return the prompt and the generation rate; the first request of each kind is thrown away."""
    room = _context(endpoint) - _ROOM
    n_prompt, n_gen = min(plan.n_prompt, room), min(plan.n_gen, room)
    if n_prompt < 1 or n_gen < 2:
        raise UserError("The context is too small to measure anything", f"It has {room} tokens.")
    runs = []
    for index, (test, n_tokens) in enumerate(((Test.PROMPT, n_prompt), (Test.GENERATION, n_gen))):
        rates = []
        for number in range(plan.repetitions + 1):
            cancel.check()
            done = index * (plan.repetitions + 1) + number
            what = f"run {number} of {plan.repetitions}" if number else "warm-up"
            percent = 100 * done // (2 * (plan.repetitions + 1))
            progress(percent, f"{test.value.capitalize()} {what}")
            rates.append(_one(endpoint, test, n_tokens, cancel))
        runs.append(_run(plan, test, n_tokens, rates[1:]))
    return tuple(runs)


def _run(plan: ServerPlan, test: Test, n_tokens: int, rates: list[float]) -> BenchRun:
    return BenchRun(
        test=test,
        n_tokens=n_tokens,
        samples_tps=tuple(rates),
        instrument=INSTRUMENT,
        settings=plan.settings,
        build=plan.build,
        model_name=plan.model_name,
        model_bytes=plan.model_bytes,
        backends=plan.backends,
    )


def look(endpoint: Endpoint, cancel: Cancel) -> tuple[float, float]:
    """Return rough prompt and generation rates from one short request."""
    n_prompt = max(1, min(_LOOK_PROMPT, _context(endpoint) - _ROOM))
    timings = _timings(endpoint, n_prompt, _LOOK_GEN, cancel)
    return rate_of(Test.PROMPT, timings), rate_of(Test.GENERATION, timings)


def rate_of(test: Test, timings: dict[str, Any]) -> float:
    """Return tokens per second from a /completion answer's timings.

    The first generated token comes from the prompt's last step, so n tokens are n - 1 steps
    (server_slot_stats::n_gen_steps, llama.cpp tools/server, build 11434); older builds divide by
    n, so the rate is calculated here from the counts and the time.
    """
    try:
        if test is Test.PROMPT:
            tokens, ms = int(timings["prompt_n"]), float(timings["prompt_ms"])
        else:
            tokens, ms = int(timings["predicted_n"]) - 1, float(timings["predicted_ms"])
    except (KeyError, TypeError, ValueError) as error:
        raise _strange("its answer has no timings") from error
    if tokens < 1 or not ms > 0:
        raise _strange(f"it counted {tokens} tokens in {ms} ms")
    return 1000.0 * tokens / ms


def _one(endpoint: Endpoint, test: Test, n_tokens: int, cancel: Cancel) -> float:
    n_prompt, n_gen = (n_tokens, 1) if test is Test.PROMPT else (1, n_tokens)
    return rate_of(test, _timings(endpoint, n_prompt, n_gen, cancel))


def _timings(endpoint: Endpoint, n_prompt: int, n_gen: int, cancel: Cancel) -> dict[str, Any]:
    request = {
        "prompt": [_FIRST_TOKEN + index % _TOKEN_SPAN for index in range(n_prompt)],
        "n_predict": n_gen,
        "ignore_eos": True,
        "cache_prompt": False,  # else the second prompt would be read from the first one's cache
        "temperature": 0.0,
        "stream": False,
    }
    try:
        answer = _ask(endpoint, "/completion", request)
    except (OSError, http.client.HTTPException) as error:
        # a cancelled run stops the server, which ends the request; and when the server died,
        # its end should be known before anybody stops it, since it says why
        cancel.wait(_END_ARRIVES_S)
        raise UserError(
            "llama-server stopped answering while it was measured",
            f"{type(error).__name__}: {error}",
            "Its log shows what happened.",
        ) from error
    timings = answer.get("timings")
    return timings if isinstance(timings, dict) else {}


def _context(endpoint: Endpoint) -> int:
    """Return the tokens that one slot takes."""
    answer = _ask(endpoint, "/props")
    settings = answer.get("default_generation_settings")
    n_ctx = settings.get("n_ctx") if isinstance(settings, dict) else None
    return n_ctx if isinstance(n_ctx, int) and n_ctx > 0 else 1 << 30


def _health(endpoint: Endpoint) -> int | None:
    try:
        return server_client.ask(endpoint, "/health", timeout_s=_HEALTH_TIMEOUT_S).status
    except (OSError, http.client.HTTPException):
        return None  # it does not listen yet


def _ask(endpoint: Endpoint, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    answer = server_client.ask(endpoint, path, body, timeout_s=_REQUEST_TIMEOUT_S)
    if answer.body is None:
        raise _strange(f"{path} gave status {answer.status} and no JSON")
    if answer.status != 200 or not isinstance(answer.body, dict):
        raise _strange(f"{path} gave status {answer.status}: {_message(answer.body)}")
    return answer.body


def _message(answer: object) -> str:
    error = answer.get("error") if isinstance(answer, dict) else None
    text = error.get("message") if isinstance(error, dict) else error
    return str(text)[:200]


def _strange(detail: str) -> UserError:
    return UserError(
        "llama-server gave no rates",
        detail,
        "A newer llama-server may answer; or choose a folder that has llama-bench.",
    )
