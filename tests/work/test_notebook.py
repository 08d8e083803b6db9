"""The notebook: survives cut lines, other writers, newer versions and full disks."""

import csv
import json
import os
import sys
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app import paths
from app.core.bench import BenchRun, Change, Test
from app.core.evidence import MemoryWatch
from app.work.notebook import Entry, Notebook, Placement, compare_entries
from app.work.notebook_table import as_csv

RUN = BenchRun(
    Test.GENERATION,
    128,
    (10.0, 10.2, 10.1),
    "llama-bench",
    settings=(("n_gpu_layers", "9"), ("n_threads", "1")),
    build="11434",
)
ENTRY = Entry(
    run_id="a1",
    time="2026-11-30T21:00:00Z",
    model="gemma-3-270m-q4_k_m.gguf",
    runs=(replace(RUN, test=Test.PROMPT, samples_tps=(290.0, 288.5)), RUN),
    build="11434",
    machine=("2 cores", "Vulkan0: llvmpipe"),
    placement=Placement(30_765_056, 225_280_000, 24_117_248, None, (9, 19)),
    watch=MemoryWatch(4.0, 8, swap_in_max=0.0, cores=2, source="/proc/vmstat"),
    busy="",
)


@pytest.fixture
def notebook(tmp_path: Path) -> Notebook:
    return Notebook(tmp_path / "data" / "notebook.jsonl")


def test_gives_back_what_was_appended_oldest_first(notebook: Notebook) -> None:
    later = replace(ENTRY, run_id="b2", watch=None)
    notebook.append(ENTRY)
    notebook.append(later)
    assert notebook.read().entries == (ENTRY, later)
    assert notebook.read().warning() == ""


def test_is_empty_when_there_is_no_file(notebook: Notebook) -> None:
    assert notebook.read().entries == ()
    assert not notebook.path.exists()


def test_lies_in_the_users_data_folder() -> None:
    assert Notebook().path == paths.user_data() / "notebook.jsonl"


@pytest.mark.parametrize("keep", [1, 40, 600])
def test_loses_only_the_line_that_a_crash_cut(notebook: Notebook, keep: int) -> None:
    notebook.append(ENTRY)
    whole = notebook.path.read_bytes()
    notebook.path.write_bytes(whole + whole[:keep])
    notebook.append(replace(ENTRY, run_id="after"))
    pages = notebook.read()
    assert [entry.run_id for entry in pages.entries] == ["a1", "after"]
    assert pages.n_broken == 1
    assert "1 line was not understood" in pages.warning()


def test_reads_a_last_line_whose_end_is_missing(notebook: Notebook) -> None:
    notebook.append(ENTRY)
    os.truncate(notebook.path, notebook.path.stat().st_size - 1)
    assert notebook.read().entries == (ENTRY,)
    notebook.append(ENTRY)
    assert notebook.read() == replace(notebook.read(), entries=(ENTRY, ENTRY), n_broken=0)


@pytest.mark.parametrize(
    "line",
    [
        b'{"schema": "slowscope.notebook/2", "run_id": "x"}',
        b"[]",
        b"null",
        b"\xff\xfe",
        b"{" * 50_000,
        b'{"schema": "slowscope.notebook/1", "run_id": 5}',
    ],
)
def test_counts_a_line_it_does_not_understand(notebook: Notebook, line: bytes) -> None:
    notebook.append(ENTRY)
    with notebook.path.open("ab") as file:
        file.write(line + b"\n\n")
    notebook.append(ENTRY)
    pages = notebook.read()
    assert pages.entries == (ENTRY, ENTRY)
    assert pages.n_broken == 1


@given(st.binary(max_size=300))
def test_survives_any_bytes_in_the_file(tmp_path_factory: pytest.TempPathFactory, x: bytes) -> None:
    notebook = Notebook(tmp_path_factory.mktemp("notebook") / "notebook.jsonl")
    notebook.path.write_bytes(x)
    notebook.append(ENTRY)
    assert notebook.read().entries == (ENTRY,)
    assert notebook.path.read_bytes().startswith(x)


def test_keeps_the_lines_of_two_writers_apart(notebook: Notebook) -> None:
    root = Path(__file__).parents[2]
    code = (
        "import sys\nfrom dataclasses import replace\nfrom pathlib import Path\n"
        "from tests.work.test_notebook import ENTRY, Notebook\n"
        "book = Notebook(Path(sys.argv[1]))\n"
        "for i in range(60): book.append(replace(ENTRY, run_id=sys.argv[2] + str(i)))"
    )
    command = [sys.executable, "-c", code, str(notebook.path)]
    writers = [
        psutil.Popen([*command, name], cwd=root, env={**os.environ, "PYTHONPATH": str(root)})
        for name in "ab"
    ]
    assert [writer.wait(60) for writer in writers] == [0, 0]
    pages = notebook.read()
    assert pages.n_broken == 0
    assert sorted(entry.run_id for entry in pages.entries) == sorted(
        f"{name}{i}" for name in "ab" for i in range(60)
    )


def test_says_so_when_the_disk_is_full(notebook: Notebook, monkeypatch: pytest.MonkeyPatch) -> None:
    notebook.append(ENTRY)
    real = os.write
    monkeypatch.setattr("os.write", lambda handle, data: real(handle, data[:100]))
    with pytest.raises(OSError, match="disk is full"):
        notebook.append(ENTRY)
    monkeypatch.undo()
    notebook.append(ENTRY)
    assert notebook.read().entries == (ENTRY, ENTRY)


def test_writes_a_format_that_others_can_read(notebook: Notebook) -> None:
    notebook.append(ENTRY)
    document = json.loads(notebook.path.read_text())
    assert document["schema"] == "slowscope.notebook/1"
    assert document["runs"][1]["samples_tps"] == [10.0, 10.2, 10.1]
    assert document["placement"]["device_weights_bytes"] == 30_765_056


def test_compares_the_rates_that_two_runs_share() -> None:
    faster = replace(RUN, samples_tps=(20.0, 20.2, 20.1), build="11500")
    after = replace(ENTRY, runs=(faster,), machine=("2 cores", "Vulkan0: other"))
    (comparison,) = compare_entries(ENTRY, after)
    assert comparison.change is Change.FASTER
    assert comparison.ratio == pytest.approx(20.1 / 10.1)
    assert ("build", "11434", "11500") in comparison.differences
    assert ("machine", "Vulkan0: llvmpipe", "Vulkan0: other") in comparison.differences
    assert comparison.caution == ""


def test_says_no_difference_when_the_intervals_meet() -> None:
    after = replace(ENTRY, runs=(replace(RUN, samples_tps=(10.05, 10.3, 10.2)),))
    (comparison,) = compare_entries(ENTRY, after)
    assert comparison.change is Change.SAME
    assert comparison.differences == ()


def test_does_not_compare_different_lengths_or_depths() -> None:
    other = replace(ENTRY, runs=(replace(RUN, n_tokens=64), replace(RUN, depth=4096)))
    assert compare_entries(ENTRY, other) == ()


def test_warns_when_the_computer_was_busy() -> None:
    after = replace(ENTRY, busy="another program used 1.5 cores")
    assert "second run" in compare_entries(ENTRY, after)[0].caution


def test_leaves_out_what_was_deleted_until_it_is_restored(notebook: Notebook) -> None:
    later = replace(ENTRY, run_id="b2")
    notebook.append(ENTRY)
    notebook.append(later)
    size = notebook.path.stat().st_size
    notebook.delete((ENTRY.run_id,))
    assert notebook.read().entries == (later,)
    assert notebook.read().warning() == ""
    assert notebook.path.stat().st_size > size  # nothing is rewritten: another window may append
    notebook.restore((ENTRY.run_id,))
    assert notebook.read().entries == (ENTRY, later)


def test_a_damaged_mark_deletes_nothing(notebook: Notebook) -> None:
    notebook.append(ENTRY)
    with notebook.path.open("ab") as file:
        file.write(b'{"schema": "slowscope.notebook-mark/1", "run_id": 7, "is_deleted": true}\n')
    assert notebook.read().entries == (ENTRY,)
    assert notebook.read().n_broken == 1


def test_exports_a_line_per_rate_and_nothing_for_what_is_unknown() -> None:
    rows = list(csv.DictReader(as_csv((ENTRY,)).splitlines()))
    assert [row["test"] for row in rows] == ["prompt", "generation"]
    assert rows[1]["mean_tps"] == str(RUN.mean_tps)
    assert (rows[1]["n_gpu_layers"], rows[1]["n_threads"]) == ("9", "1")
    assert rows[1]["type_k"] == "" and rows[1]["model_bytes"] == ""
    assert rows[1]["device_weights_bytes"] == "30765056"
    single = replace(ENTRY, runs=(replace(RUN, samples_tps=(10.0,)),))
    (row,) = csv.DictReader(as_csv((single,)).splitlines())
    assert row["low_tps"] == ""
