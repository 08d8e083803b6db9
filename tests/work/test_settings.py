"""Settings: typed, written whole, and never lost to a broken file."""

import json
from pathlib import Path

import pytest

from app import paths
from app.work.settings import ENTRIES, LLAMA_FOLDER, N_GEN, THEME, Settings


def test_remembers_a_value_when_read_again() -> None:
    Settings().set(LLAMA_FOLDER, "/opt/llama")
    assert Settings().get(LLAMA_FOLDER) == "/opt/llama"
    assert (paths.user_config() / "settings.json").is_file()


def test_gives_the_default_when_there_is_no_file() -> None:
    fresh = Settings()
    assert fresh.get(THEME) == "system"
    assert fresh.problem == ""


@pytest.mark.parametrize("broken", [b"{", b"\xff\xfe\x00", b"[1, 2]", b"", b"[" * 100_000])
def test_starts_with_defaults_and_says_so_when_the_file_is_broken(
    broken: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(broken)
    opened = Settings(path)
    assert opened.get(N_GEN) == 128
    assert str(path) in opened.problem
    assert path.with_name("settings.json.broken").read_bytes() == broken
    opened.set(N_GEN, 64)
    assert Settings(path).get(N_GEN) == 64
    assert Settings(path).problem == ""


@pytest.mark.parametrize("value", ["128", True, None, 1.5, [128]])
def test_gives_the_default_when_the_type_is_wrong(value: object, tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text(json.dumps({N_GEN.key: value}))
    assert Settings(path).get(N_GEN) == N_GEN.default


def test_gives_the_default_when_the_value_is_no_choice(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text(json.dumps({THEME.key: "purple"}))
    assert Settings(path).get(THEME) == "system"


def test_keeps_what_a_newer_version_wrote(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text(json.dumps({"from_the_future": [1, 2]}))
    Settings(path).set(THEME, "dark")
    assert json.loads(path.read_text()) == {"from_the_future": [1, 2], "theme": "dark"}


def test_refuses_a_value_of_the_wrong_type(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="purple"):
        Settings(tmp_path / "settings.json").set(THEME, "purple")


def test_leaves_the_old_file_whole_when_writing_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "settings.json"
    opened = Settings(path)
    opened.set(N_GEN, 64)

    def full(_handle: int) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        opened.set(N_GEN, 32)
    assert json.loads(path.read_text()) == {N_GEN.key: 64}
    assert [file.name for file in tmp_path.iterdir()] == ["settings.json"]


def test_every_entry_has_its_own_key_and_one_line_of_text() -> None:
    assert len({entry.key for entry in ENTRIES}) == len(ENTRIES)
    for entry in ENTRIES:
        assert entry.accepts(entry.default)
        assert entry.text and "\n" not in entry.text
