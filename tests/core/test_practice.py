"""Five faults on purpose: options of a load, predicted before, judged after."""

from dataclasses import replace

from app.core.evidence import Evidence, LoadOutcome
from app.core.machine import Device, DeviceKind, Machine
from app.core.practice import Lesson, failed, judged, lessons, predicted
from app.core.reading import Estimate
from app.core.request import LoadRequest
from app.core.rule import Certainty, Diagnosis, Finding, Fix
from app.core.units import GIB
from tests.core.small_models import llama

CARD = Device("CUDA0", DeviceKind.CUDA, "card", 48 * GIB, 46 * GIB, "list", is_integrated=False)
R = Estimate.typed(8.0)
BASE = LoadRequest(threads=4)


def _seen(device: Device | None = CARD) -> Evidence:
    devices = (device,) if device is not None else ()
    model = llama()
    keys = {**model.keys, "llama.context_length": 65536}
    return Evidence(model=replace(model, keys=keys), machine=Machine(devices=devices))


def _lessons(device: Device | None = CARD) -> dict[str, Lesson]:
    return {lesson.id: lesson for lesson in lessons(_seen(device), BASE)}


def _finding(rule: str) -> Finding:
    return Finding("", (), Fix(""), "", Certainty.PROVEN, rule, f"title of {rule}")


def test_makes_five_faults_of_options_alone() -> None:
    made = _lessons()
    assert list(made) == [
        "a-no-device", "b-half-of-the-layers", "c-small-device", "d-default-context",
        "e-long-context",
    ]  # fmt: skip
    assert all(not lesson.why_not for lesson in made.values())
    assert not made["a-no-device"].request.use_devices
    assert made["b-half-of-the-layers"].request.ngl == 2
    assert made["d-default-context"].request.ctx is None
    assert made["e-long-context"].request.ctx == 65536
    assert all(lesson.request.threads == 4 for lesson in made.values())


def test_predicts_each_before_it_is_run() -> None:
    seen, made = _seen(), _lessons()
    assert "8.00×" in predicted(seen, made["a-no-device"], R)
    half = predicted(seen, made["b-half-of-the-layers"], R)
    assert "74.8 %" in half and "typed" in half
    assert "rates should not change" in predicted(seen, made["d-default-context"], R)
    for name in ("c-small-device", "e-long-context"):
        text = predicted(seen, made[name], R)
        assert "slower" in text and "f will be 0.0" not in text


def test_has_no_figure_without_r() -> None:
    text = predicted(_seen(), _lessons()["b-half-of-the-layers"], None)
    assert "No slowdown is predicted" in text and "r is not known" in text


def test_says_why_there_is_nothing_to_break_without_a_device() -> None:
    made = _lessons(None)
    assert all("no device" in lesson.why_not for lesson in made.values())
    assert "Not possible here" in predicted(_seen(None), made["c-small-device"], R)
    assert lessons(Evidence(), BASE) == ()


def test_says_when_the_free_memory_is_not_known() -> None:
    made = _lessons(replace(CARD, free_bytes=None))
    assert made["b-half-of-the-layers"].why_not == ""
    assert "free memory" in made["e-long-context"].why_not


def test_says_whether_the_fault_was_named() -> None:
    lesson = _lessons()["a-no-device"]
    right = Diagnosis(_finding("device-present-but-unused"))
    assert "gave it away" in judged(lesson, right)
    also = Diagnosis(_finding("machine-busy"), also=(_finding("device-present-but-unused"),))
    assert "Named first: title of machine-busy" in judged(lesson, also)
    assert "nothing found" in judged(lesson, Diagnosis(None))


def test_an_experiment_that_did_not_load_has_failed_and_names_no_fault() -> None:
    outcome = LoadOutcome(("llama-server",), "llama-server", False, "it ended with code 1")
    seen = replace(_seen(), outcome=outcome)
    assert "it ended with code 1" in failed(seen, Diagnosis(None))
    text = failed(
        seen, Diagnosis(replace(_finding("load-failed"), cause="The RPC server is gone."))
    )
    assert text.startswith("The experiment failed") and "The RPC server is gone." in text
    assert failed(replace(seen, outcome=replace(outcome, is_ready=True)), Diagnosis(None)) == ""


def test_says_for_each_fault_why_it_needs_a_device() -> None:
    made = _lessons(None)
    assert "takes no room from layers" in made["d-default-context"].why_not
    assert made["d-default-context"].why_not != made["a-no-device"].why_not
    # a load that does not fit as it is needs no larger margin
    tiny = _lessons(replace(CARD, free_bytes=1))
    assert "larger than its free memory" in tiny["c-small-device"].why_not
