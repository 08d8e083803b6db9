"""Small programs that stand in for llama.cpp's: they print what the real ones printed."""

import sys
from dataclasses import dataclass
from pathlib import Path

from app.core.evidence import Evidence
from app.core.machine import Flag, Machine, Program, Runtime
from app.gguf.sample import write_sample

LOGS = Path(__file__).parents[1] / "data" / "logs"
# what the real programs print (tests/data/logs)
LOG_ON_DEVICE = LOGS / "b10434-vulkan-partial-ngl9-lv4.log"
LOG_DEVICE_NONE = LOGS / "b11434-rpc-one-device-ngl99-device-none-lv4.log"
LOG_NO_MEMORY = LOGS / "b11434-cpu-oom-huge-ctx-fit-off-default-verbosity.log"
ROWS = LOGS / "b11434-llama-bench-cpu-jsonl.jsonl"

_BENCH = """
import os, pathlib, signal, sys, time
rows = pathlib.Path({rows!r}).read_text().splitlines()
pathlib.Path({told!r}).write_text(" ".join(sys.argv[1:]))
say = lambda text: print("llama-bench:", text, file=sys.stderr, flush=True)
if {complaint!r}:
    print({complaint!r}, file=sys.stderr)
    sys.exit(1)
for test, (name, row) in enumerate(zip(("prompt", "generation"), rows), 1):
    say(f"benchmark {{test}}/2: starting")
    say(f"benchmark {{test}}/2: warmup {{name}} run")
    for number in (1, 2):
        say(f"benchmark {{test}}/2: {{name}} run {{number}}/2")
    if {hangs} or {hangs_when!r} in sys.argv:
        time.sleep(60)
    print(row, flush=True)
"""

_SERVER = """
import http.server, json, os, pathlib, signal, sys, time
port = int(sys.argv[sys.argv.index("--port") + 1])
told = pathlib.Path({told!r})
told.write_text(" ".join(sys.argv[1:]))
tries = pathlib.Path({told!r} + ".tries")
tries.write_text(str(int(tries.read_text() or 0) + 1 if tries.exists() else 1))
lines = pathlib.Path({log!r}).read_text().splitlines()
{end}
for line in lines[:-12]:
    print(line, file=sys.stderr)
def leave(*_):
    print("\\n".join(lines[-12:]), file=sys.stderr)
    os._exit(0)
signal.signal(signal.SIGTERM, leave)
asked = [0]
class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_): pass
    def answer(self, status, value):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
    def is_ours(self):
        return self.headers["Authorization"] == "Bearer " + os.environ["LLAMA_API_KEY"]
    def do_GET(self):
        if self.path == "/health":
            asked[0] += 1
            ready = asked[0] > 2
            return self.answer(200 if ready else 503, {{"status": "ok"}})
        if not self.is_ours():
            return self.answer(401, {{"error": {{"message": "Invalid API Key"}}}})
        self.answer(200, {{"default_generation_settings": {{"n_ctx": {n_ctx}}}}})
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if not self.is_ours():
            return self.answer(401, {{"error": {{"message": "Invalid API Key"}}}})
        with told.open("a") as file:
            file.write("\\n" + json.dumps(body))
        {on_request}
        n_prompt, n_gen = len(body["prompt"]), body["n_predict"]
        self.answer(200, {{"content": "", "timings": {{
            "prompt_n": n_prompt, "prompt_ms": 5.0 * n_prompt,
            "predicted_n": n_gen, "predicted_ms": 100.0 * (n_gen - 1)}}}})
http.server.HTTPServer(("127.0.0.1", port), Handler).serve_forever()
"""


@dataclass(frozen=True, slots=True)
class StandIn:
    """A program that stands in, and the file to which it writes what it was told."""

    program: Program
    told_file: Path

    @property
    def told(self) -> str:
        """Return its arguments, and for a server the requests, one a line."""
        return self.told_file.read_text() if self.told_file.exists() else ""


def bench(
    folder: Path, *, complaint: str = "", hangs: bool = False, hangs_when: str = ""
) -> StandIn:
    """Make a llama-bench that prints two captured rows, fails with a complaint, or hangs.

    hangs_when is a word of its command with which it hangs.
    """
    told = folder / "bench.told"
    code = _BENCH.format(
        rows=str(ROWS), told=str(told), complaint=complaint, hangs=hangs, hangs_when=hangs_when
    )
    flags = (Flag(("--progress",)), Flag(("-ngl",)), Flag(("-t",)), Flag(("-ctk",)))
    return StandIn(_program(folder, "llama-bench", code, flags), told)


def server(
    folder: Path, *, log: Path = LOG_ON_DEVICE, end: str = "", n_ctx: int = 4096,
    on_request: str = "pass",
) -> StandIn:  # fmt: skip
    """Make a llama-server that prints a captured log; `end` is code to run instead of serving."""
    told = folder / "server.told"
    if end:
        end = f"print('\\n'.join(lines), file=sys.stderr)\n{end}"
    code = _SERVER.format(log=str(log), told=str(told), end=end, n_ctx=n_ctx, on_request=on_request)
    flags = (Flag(("-lv",)), Flag(("-c",)), Flag(("-ngl",)), Flag(("-t",)))
    return StandIn(_program(folder, "llama-server", code, flags), told)


def model(folder: Path) -> Path:
    """Write a small complete model."""
    path = folder / "sample model.gguf"
    write_sample(path)
    return path


def evidence(*programs: StandIn) -> Evidence:
    """Return what a computer with these programs shows; it is not read."""
    if not programs:
        return Evidence(machine=Machine())
    folder = str(Path(programs[0].program.path).parent)
    found = tuple(stand_in.program for stand_in in programs)
    runtime = Runtime("llama.cpp", "llama.cpp", folder, "build 11434", 11434, found, "test")
    return Evidence(machine=Machine(runtimes=(runtime,)))


def _program(folder: Path, name: str, code: str, flags: tuple[Flag, ...]) -> Program:
    path = folder / name
    path.write_text(f"#!{sys.executable} -IS\n{code}")
    path.chmod(0o755)
    return Program(name, str(path), flags)
