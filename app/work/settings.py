"""The user's settings: one entry each, in a JSON file that may be broken without harm."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from app import paths
from app.work import whole_file

T = TypeVar("T", str, int, bool, float)

FILE_LIMIT_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Setting(Generic[T]):
    """One setting; choices is empty when any value of the type is allowed."""

    key: str
    default: T
    text: str
    choices: tuple[T, ...] = ()

    def accepts(self, value: object) -> bool:
        """Tell whether a value from the file has this setting's type and is one of its choices."""
        # bool is an int in Python, but true is no number of threads
        same_type = type(value) is type(self.default)
        return same_type and (not self.choices or value in self.choices)


LLAMA_FOLDER = Setting("llama_folder", "", "Folder with llama-server and llama-bench")
LAST_FOLDER = Setting("last_folder", "", "Folder of the file that was last opened or written")
MODEL_FOLDERS = Setting("model_folders", "", "Folders to look for models in, as PATH is written")
THEME = Setting("theme", "system", "Colours of the window", ("system", "light", "dark"))
SLOW_RATIO = Setting("slow_ratio", 0.0, "r that you typed in; 0: none")
N_PROMPT = Setting("n_prompt", 512, "Prompt tokens that Diagnose measures")
N_GEN = Setting("n_gen", 128, "Generated tokens that Diagnose measures")
TAB_N_PROMPT = Setting("bench_n_prompt", 512, "Prompt tokens of a benchmark run")
TAB_N_GEN = Setting("bench_n_gen", 128, "Generated tokens of a benchmark run")
REPETITIONS = Setting("bench_repetitions", 5, "Repetitions of a benchmark run")
LOAD_TIMEOUT_S = Setting("load_timeout_s", 600, "Longest wait for a model to load, in seconds")

Entry = Setting[str] | Setting[int] | Setting[float] | Setting[bool]
ENTRIES: tuple[Entry, ...] = (
    LLAMA_FOLDER, LAST_FOLDER, MODEL_FOLDERS, THEME, SLOW_RATIO, N_PROMPT, N_GEN, TAB_N_PROMPT,
    TAB_N_GEN, REPETITIONS, LOAD_TIMEOUT_S,
)  # fmt: skip


def default_path() -> Path:
    """Return where the settings of this user are."""
    return paths.user_config() / "settings.json"


class Settings:
    """The settings file in memory; writes at once and whole, or not at all."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or default_path()
        self.problem = ""  # why the file could not be used, for the user
        self._values = self._read()

    def get(self, setting: Setting[T]) -> T:
        """Return a value, the default when the file has none of the right type."""
        value = self._values.get(setting.key)
        # accepts() has just checked that it is a T
        return value if setting.accepts(value) else setting.default  # type: ignore[return-value]

    def set(self, setting: Setting[T], value: T) -> None:
        """Keep a value; OSError when the file cannot be written."""
        if not setting.accepts(value):
            raise ValueError(f"{value!r} is no value of {setting.key}")
        self._values[setting.key] = value
        self._write()

    def _read(self) -> dict[str, Any]:
        try:
            with self.path.open("rb") as file:
                data = file.read(FILE_LIMIT_BYTES)
            values = json.loads(data)
            if not isinstance(values, dict):
                raise ValueError("not an object")
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError) as error:
            self.problem = f"The settings in {self.path} could not be read ({error}); defaults hold"
            self._keep_broken()
            return {}
        return values  # also what a newer version wrote: it is written back unchanged

    def _keep_broken(self) -> None:
        try:
            whole_file.set_aside(self.path)
        except OSError as error:
            self.problem += f"; it could not be set aside either ({error})"

    def _write(self) -> None:
        text = json.dumps(self._values, indent=2, sort_keys=True)
        whole_file.write(self.path, f"{text}\n".encode())
