"""What a log says of each request: how much was read, what the cache held, what was lost."""

from pathlib import Path

import pytest

from app.core.log import Request
from app.logs.scan import scan_file, scan_text

DATA = Path(__file__).parents[1] / "data" / "logs"


def requests(name: str) -> tuple[Request, ...]:
    load = scan_file(DATA / name).load
    assert load is not None
    return load.requests


def test_second_request_finds_its_beginning_in_the_cache() -> None:
    first, second = requests("b10434-vulkan-tiny-full-offload-two-requests-lv4.log")
    assert first.n_cached == 0
    assert first.n_prompt is not None and second.n_prompt is not None
    assert first.prompt is not None and first.prompt.whole("n") == first.n_prompt
    assert second.prompt is not None
    assert second.n_cached is not None
    assert second.prompt.whole("n") == second.n_prompt - second.n_cached
    assert not first.is_truncated and not first.is_reread


def test_later_lines_of_a_request_are_batches_and_no_cache() -> None:
    found = requests("b11434-cpu-prompt-cache-swa-reprocessing-lv4.log")
    # the third prompt was read before and is read again: the window had moved on
    assert [(r.n_prompt, r.n_cached) for r in found] == [(685, 0), (718, 685), (685, 1), (718, 692)]
    for request in found:
        assert request.prompt is not None
        assert request.n_prompt is not None and request.n_cached is not None
        assert request.prompt.whole("n") == request.n_prompt - request.n_cached


def test_prompt_that_is_forced_to_be_read_again_is_marked() -> None:
    text = (
        "slot launch_slot_: id  0 | task 15 | processing task\n"
        "slot update_slots: id  0 | task 15 | forcing full prompt re-processing due to lack of "
        "cache data (likely due to SWA or hybrid/recurrent memory)\n"
    )
    load = scan_text(text).load
    assert load is not None
    assert [request.is_reread for request in load.requests] == [True]


def test_shift_and_cut_are_told_apart() -> None:
    (shifted,) = requests("b11434-cpu-context-shift-gemma-lv4.log")
    assert shifted.n_shifts == 2
    (cut,) = requests("b11434-cpu-context-full-no-shift-default-verbosity.log")
    assert (cut.n_shifts, cut.is_truncated) == (0, True)


def test_refused_request_has_no_rates() -> None:
    (refused,) = requests("b11434-cpu-prompt-too-long-gemma-default-verbosity.log")
    assert refused.is_refused
    assert refused.prompt is None and refused.generation is None


@pytest.mark.parametrize(
    "name",
    ["old-b4798-2025-03-server-cpu.log", "old-b7079-2025-11-server-cpu.log"],
)
def test_rates_without_a_tag_belong_to_the_request_above(name: str) -> None:
    found = requests(name)
    assert all(r.task is not None and r.prompt and r.generation for r in found)
    assert found[0].n_cached == 0


def test_requests_that_run_at_once_keep_their_lines_apart() -> None:
    text = "".join(
        f"slot {fn}: id  {task} | task {task} | {said}\n"
        for fn, task, said in (
            ("launch_slot_", 0, "processing task"),
            ("launch_slot_", 1, "processing task"),
            ("update_slots", 1, "kv cache rm [7, end)"),
            ("update_slots", 0, "kv cache rm [0, end)"),
            ("update_slots", 0, "kv cache rm [512, end)"),
            ("release", 0, "stop processing: n_past = 99, truncated = 1"),
        )
    )
    load = scan_text(text).load
    assert load is not None
    assert [(r.task, r.n_cached, r.is_truncated) for r in load.requests] == [
        (0, 0, True),
        (1, 7, False),
    ]


def test_run_of_a_library_is_one_request() -> None:
    (request,) = requests("old-2023-09-main-cpu.log")
    assert request.task is None
    assert request.prompt is not None and request.generation is not None
