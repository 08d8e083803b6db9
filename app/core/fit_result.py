"""The values of --fit: a measurement, a step with its log line, and the result."""

from dataclasses import dataclass

from app.core.beside import draft_load
from app.core.machine import Device, Host
from app.core.model import Model
from app.core.placement import HOST_ROW, Prepared, Row, place
from app.core.request import LoadRequest
from app.core.weights import CPU


@dataclass(frozen=True, slots=True)
class Step:
    """One decision in plain words, and the line llama.cpp prints for it (-lv 4)."""

    text: str
    log_line: str


@dataclass(frozen=True, slots=True)
class FitResult:
    """What would be loaded; a refused fit keeps the context that was already shortened."""

    request: LoadRequest  # as it would be loaded
    ctx: int
    layers_total: int
    ngl: int | None = None  # None: unchanged, as asked
    tensor_split: tuple[float, ...] = ()
    overrides: tuple[tuple[str, str], ...] = ()  # set by the fit
    refused: str = ""  # llama.cpp's own words
    steps: tuple[Step, ...] = ()
    not_calculated: str = ""

    @property
    def layers(self) -> int:
        """Return the layers offloaded, as in "offloaded N/M"."""
        ngl = self.request.ngl
        return self.layers_total if ngl is None or ngl < 0 else min(ngl, self.layers_total)

    @property
    def partial_blocks(self) -> int:
        """Return how many offloaded blocks keep some tensors in system memory."""
        return len(self._moved)

    @property
    def partial_range(self) -> str:
        """Return which blocks these are, such as "17 to 47"; "" where there are none."""
        runs: list[list[int]] = []
        for block in self._moved:
            if runs and block == runs[-1][-1] + 1:
                runs[-1].append(block)
            else:
                runs.append([block])
        return ", ".join(f"{r[0]} to {r[-1]}" if len(r) > 1 else str(r[0]) for r in runs)

    @property
    def is_a_number(self) -> bool:
        """Tell whether -ngl and --n-cpu-moe can ask for about the same.

        The fit leaves experts of the last blocks of a device, --n-cpu-moe counts from the first
        block of the model: alike on one device, on several the last would be overfilled.
        """
        return not (self.overrides and len(self.tensor_split) > 1)

    @property
    def _moved(self) -> tuple[int, ...]:
        # a part of one block may go to the next device instead
        hosted = (pattern for pattern, buffer in self.overrides if buffer == CPU)
        blocks = (int(pattern.split(r"\.")[1]) for pattern in hosted)
        # llama.cpp writes a pattern for the output layer too, which has nothing to move
        return tuple(block for block in blocks if block != self.layers_total - 1)


@dataclass(frozen=True, slots=True)
class Used:
    """One measurement in bytes: per device, or the host alone when there is none."""

    parts: tuple[int, ...]
    weights: int  # on the devices


@dataclass(frozen=True, slots=True)
class Meter:
    """Measures a load as the dry pass does: nothing is mapped, compute as calculated."""

    prepared: Prepared
    devices: tuple[Device, ...]
    host: Host
    build: int | None
    asked: LoadRequest  # a draft follows it, not what is tried
    drafts: tuple[Model, ...] = ()  # loaded beside it, on the same devices

    def measure(self, request: LoadRequest) -> Used:
        """Return what a load takes; repacked weights of the host count nowhere, as in llama.cpp."""
        placed = place(
            self.prepared, self.devices, self.host, request, dry_pass=True, build=self.build
        )
        beside = self._beside(request.ctx or placed.context.n_ctx)
        own = [row for row in placed.rows if not row.is_host]
        if own:
            names = {row.buffer for row in own}
            more = [row for row in beside if row.buffer in names]
            parts = tuple(
                row.total_bytes + sum(m.total_bytes for m in more if m.buffer == row.buffer)
                for row in own
            )
            return Used(parts, sum(row.weights_bytes for row in (*own, *more)))
        host = (row for row in (*placed.rows, *beside) if row.buffer == HOST_ROW)
        return Used((sum(row.total_bytes for row in host),), 0)

    def _beside(self, n_ctx: int) -> tuple[Row, ...]:
        # add_extra_memory in common/fit.cpp, build 11434: measured at the context of the model
        loads = (
            draft_load(
                model, n_ctx, self.devices, self.host, self.asked, build=self.build, dry_pass=True
            )
            for model in self.drafts
        )
        return tuple(row for load in loads for row in load.rows)
