"""Asks a server a short question at temperature 0, and judges whether the answer can be read."""

import http.client
from dataclasses import dataclass, replace
from typing import Any

from app.core import answer_text
from app.core.evidence import TextCheck
from app.core.request import LoadRequest
from app.core.symptom import Symptom
from app.work import load_probe, server_client
from app.work.jobs import Cancel, Progress
from app.work.load_probe import Load, LoadPlan
from app.work.outcome import Outcome
from app.work.server_client import Endpoint
from app.work.steps import FirstOf, Script, Steps

CHECK_TEXT = "Asking a short question at temperature 0"
LOAD_PLAIN = "Loading it once more with a V cache of f16"
_PLAIN_TYPES = ("f16", "bf16", "f32")
# more than 64 tokens: from 2 to 32 Mesa's llvmpipe crashes in build 10434 (server_bench.py)
QUESTION = (
    "Here is a short test that any language model can pass. Please read the question below, think "
    "about it only as long as you need, and answer it in one short and complete sentence in plain "
    "English. Do not add a list, an explanation, or another question, and stop after that one "
    "sentence. The question is: what is the capital of France?"
)
SEED = 1
MOST_TOKENS = 256  # enough for a sentence and a thought; an answer that reaches it does not end
_TIMEOUT_S = 600.0


@dataclass(frozen=True, slots=True)
class Chat:
    """Where to ask: a server of this computer that speaks the chat form most of them share."""

    endpoint: Endpoint
    model: str = ""  # the name under which it holds the model, "" = it has only one
    temperature: float = 0.0


def ask(
    chat: Chat, settings: tuple[tuple[str, str], ...], cancel: Cancel, progress: Progress
) -> tuple[TextCheck | None, str]:
    """Ask once; return the check, or None and the reason in words."""
    progress(0, "Waiting for the answer")
    body: dict[str, Any] = {
        "messages": [{"role": "user", "content": QUESTION}],
        "temperature": chat.temperature,
        "seed": SEED,
        "max_tokens": MOST_TOKENS,
        "stream": False,
    }
    if chat.model:
        body["model"] = chat.model
    try:
        answer = _ask(chat.endpoint, "/v1/chat/completions", body)
    except (OSError, http.client.HTTPException, ValueError) as error:
        cancel.check()  # a cancelled run stops the server, which ends the request
        return None, f"the short question got no answer ({type(error).__name__}: {error})"
    cancel.check()
    return judged(answer, chat.temperature, settings, _counted(chat, answer)), ""


def judged(
    answer: dict[str, Any], temperature: float, settings: tuple[tuple[str, str], ...],
    n_shown: int | None,
) -> TextCheck:  # fmt: skip
    """Judge an answer of the chat form; what it is about does not count."""
    choice = _first(answer.get("choices"))
    message = choice.get("message")
    shown, thought = (_text(message, name) for name in ("content", "reasoning_content"))
    usage = answer.get("usage")
    n_generated = usage.get("completion_tokens") if isinstance(usage, dict) else None
    return TextCheck(
        settings=(("temperature", f"{temperature:g}"), *settings),
        is_readable=answer_text.is_readable(shown or thought),
        has_ended={"stop": True, "length": False}.get(str(choice.get("finish_reason"))),
        n_generated=n_generated if isinstance(n_generated, int) else None,
        n_shown=n_shown,
        leaked=answer_text.leaked(shown),
        source=f"a short answer at temperature {temperature:g}, seed {SEED}",
    )


def words(check: TextCheck) -> str:
    """Say in words what a check brought."""
    said = "can be read" if check.is_readable else "cannot be read"
    ended = {True: " and ends by itself", False: " and does not end by itself", None: ""}
    leak = f", and shows “{check.leaked}”" if check.leaked else ""
    return f"the answer {said}{ended[check.has_ended]}{leak}"


def checked(
    steps: Steps, load: Load, request: LoadRequest, notes: list[str]
) -> Script[tuple[TextCheck, ...]]:
    """Ask a llama-server of ours, as a step; () when it gave no answer, and a note says why."""
    steps.begin(CHECK_TEXT)
    settings = (("type_k", request.cache_type_k), ("type_v", request.cache_type_v))
    chat = Chat(load.endpoint)
    job = steps.job(lambda cancel, progress: ask(chat, settings, cancel, progress), "text check")
    first = yield FirstOf(job, load.end)
    if isinstance(first, Outcome):
        notes.append(f"The text was not checked: {first.sentence()}")
        steps.fail("llama-server ended")
        return ()
    check, why = first
    if check is None:
        notes.append(f"The text was not checked: {why}.")
        steps.fail(why)
        return ()
    steps.end(words(check))
    return (check,)


def checked_plain(
    steps: Steps, plan: LoadPlan, found: tuple[TextCheck, ...], notes: list[str]
) -> Script[tuple[TextCheck, ...]]:
    """Ask again with an f16 V cache where the answer was wrong with a quantised one.

    Only that tells a fault of the build from one of the file.
    """
    is_plain = plan.request.cache_type_v in _PLAIN_TYPES
    if is_plain or not any(check.is_wrong for check in found):
        return ()
    steps.begin(LOAD_PLAIN)
    plain = replace(plan.request, cache_type_v="f16")
    load = yield from load_probe.start(steps, replace(plan, request=plain))
    if load.why_not:
        steps.fail(load.why_not)
        return ()
    steps.end("ready")
    again = yield from checked(steps, load, plain, notes)
    yield from load_probe.stop(load)
    return again


def own_temperatures(port: int, *, above: float) -> tuple[float, ...]:
    """Return the temperature that a llama-server uses by itself, () when it is lower or unsaid."""
    try:
        answer = _ask(Endpoint(port), "/props")
    except (OSError, http.client.HTTPException, ValueError):
        return ()
    settings = answer.get("default_generation_settings")
    params = settings.get("params") if isinstance(settings, dict) else None
    value = params.get("temperature") if isinstance(params, dict) else None
    return (float(value),) if isinstance(value, int | float) and value > above else ()


def is_wanted(symptom: str) -> bool:
    """Tell whether the user sees wrong text, and so agrees to a request of ours."""
    return symptom == Symptom.WRONG_TEXT.value


def _counted(chat: Chat, answer: dict[str, Any]) -> int | None:
    """Return the tokens of what is shown, None where the server does not count them."""
    shown = _text(_first(answer.get("choices")).get("message"), "content")
    try:
        tokens = _ask(chat.endpoint, "/tokenize", {"content": shown}).get("tokens")
    except (OSError, http.client.HTTPException, ValueError):
        return None
    return len(tokens) if isinstance(tokens, list) else None


def _ask(endpoint: Endpoint, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    answer = server_client.ask(endpoint, path, body, timeout_s=_TIMEOUT_S)
    if answer.status != 200 or not isinstance(answer.body, dict):
        raise ValueError(f"status {answer.status}")
    return answer.body


def _first(items: object) -> dict[str, Any]:
    first = items[0] if isinstance(items, list) and items else {}
    return first if isinstance(first, dict) else {}


def _text(message: object, name: str) -> str:
    value = message.get(name) if isinstance(message, dict) else None
    return value if isinstance(value, str) else ""
