"""Errors of other estimators on two real files: python -m tests.truth.peers [--help].

The peers are installed by whoever runs this, each in a folder of its own: the Python package
modelinfo-cli (program modelinfo) and the npm package node-llama-cpp (its command line).
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.core.placement import place, prepare
from app.core.request import LoadRequest, Tool
from app.core.units import GIB, MIB
from app.gguf.model import read_model
from app.work import header_copy
from tests import real_programs
from tests.truth import live
from tests.truth.live import Backend

CTX = 4096
_UNITS = {"B": 1 / MIB, "KB": 1 / 1024, "MB": 1.0, "GB": GIB / MIB}  # theirs are powers of 1024
_SIZE = r"([\d.]+)\s?([KMG]?B)"


@dataclass(frozen=True, slots=True)
class Word:
    """What one estimator says the load takes in all, in MiB."""

    who: str
    mib: float


def own_words(path: Path, tool: Tool, bin_folder: Path) -> tuple[Word, Word]:
    """Return llama.cpp's word on a load in system memory, and this program's."""
    backend = Backend("cpu", bin_folder / tool.value, (), 11434, ())
    request = LoadRequest(tool=tool, ctx=CTX, use_devices=False)
    with header_copy.readable(read_model(path)) as readable:
        expected = frozenset(("Host", "CPU_REPACK"))
        run = live.dry_pass(backend, Path(readable), request, expected)
    said = sum(row.model + row.context + row.compute for row in run.rows)
    placed = place(
        prepare(read_model(path)), (), backend.host(), request, dry_pass=True, build=11434
    )
    return Word("llama.cpp", said), Word("Slowscope", placed.total(is_host=True).total_bytes / MIB)


def modelinfo(program: str, path: Path) -> Word:
    """Ask modelinfo-cli."""
    text = _output(program, str(path), "--context", str(CTX))
    return Word("modelinfo-cli", _size(rf"VRAM \(est\):\s+~{_SIZE} Total", text))


def node_llama_cpp(program: str, path: Path) -> Word:
    """Ask node-llama-cpp's `inspect estimate` for a load in system memory."""
    text = _output(
        program, "inspect", "estimate", "-m", str(path), "--gpu", "false", "-c", str(CTX),
        "--gl", "0",
    )  # fmt: skip
    return Word("node-llama-cpp", _size(rf"RAM usage: {_SIZE}", text))


def table(options: argparse.Namespace) -> Iterator[str]:
    """Yield the table as Markdown: each peer against each program's own word."""
    yield "| file | against | llama.cpp says | estimator | says | error |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for path in (real_programs.gemma(), real_programs.deepseek_header()):
        peers = []
        if options.modelinfo:
            peers.append(modelinfo(options.modelinfo, path))
        if options.node_llama_cpp:
            peers.append(node_llama_cpp(options.node_llama_cpp, path))
        for tool in (Tool.SERVER, Tool.FIT_PARAMS):
            said, own = own_words(path, tool, real_programs.llama_bin())
            for word in (own, *peers):
                error = 100 * (word.mib / said.mib - 1)
                yield (
                    f"| {path.name} | {tool.value} | {said.mib:,.0f} MiB | {word.who} "
                    f"| {word.mib:,.0f} MiB | {error:+.1f} % |"
                )


def _output(*argv: str) -> str:
    done = subprocess.run(argv, capture_output=True, text=True, timeout=120, check=True)
    return re.sub(r"\x1b\[[\d;]*m", "", done.stdout)


def _size(pattern: str, text: str) -> float:
    found = re.search(pattern, text)
    assert found is not None, text
    return float(found[1]) * _UNITS[found[2]]


def main(arguments: Sequence[str]) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--modelinfo", help="path of the program modelinfo")
    parser.add_argument("--node-llama-cpp", help="path of the program node-llama-cpp")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as cache:
        os.environ["SLOWSCOPE_CACHE"] = cache  # for the copy of the header
        print("\n".join(table(options)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
