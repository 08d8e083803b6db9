"""slowscope plan: where a model's bytes would lie, and what follows for memory and speed."""

import json
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from dataclasses import replace

from app import product
from app.cli import ANSWERED, BAD_USAGE, FAILED, UNREADABLE, CommandError, exact, plan_text
from app.cli.devices import Computer, add_device_options, computer_of
from app.cli.load_options import add_load_options, add_server_options, count, request_of
from app.core import placement
from app.core import plan as planning
from app.core.assign import usable_devices
from app.core.bandwidth import table_r
from app.core.bench import BenchRun
from app.core.beside import Companion, Kind
from app.core.errors import UserError
from app.core.forecast import measured_r
from app.core.model import Model
from app.core.placement import Prepared
from app.core.plan import Situation
from app.core.plan_json import plan_json
from app.core.reading import Estimate
from app.core.request import LoadRequest, Tool
from app.core.said import compare
from app.core.said_json import said_json
from app.core.weights import CPU
from app.gguf.model import read_model


def add_options(parser: ArgumentParser) -> None:
    """Add the options of this subcommand."""
    parser.add_argument("model", metavar="MODEL", help="a GGUF file; split files: any part")
    parser.add_argument("--program", type=Tool, choices=list(Tool), default=Tool.SERVER,
                        metavar="|".join(tool.value for tool in Tool),
                        help="whose defaults hold (default llama-server)")  # fmt: skip
    add_load_options(parser)
    add_server_options(parser)
    parser.add_argument("--ctx", type=count(0), metavar="N",
                        help="context length (0: the model's)")  # fmt: skip
    add_device_options(parser)
    more = parser.add_argument_group("more")
    more.add_argument("--mmproj", metavar="FILE", help="a vision projector, loaded beside it")
    more.add_argument("--no-mmproj-offload", action="store_true",
                      help="keep the projector in system memory")  # fmt: skip
    more.add_argument("--draft", "--model-draft", metavar="FILE",
                      help="a draft model, loaded beside it")  # fmt: skip
    more.add_argument("--slow-ratio", type=_ratio, metavar="R",
                      help="how many times slower the host path is (no default)")  # fmt: skip
    more.add_argument("--build", type=int, metavar="N",
                      help="build of llama.cpp, for its compute buffers")  # fmt: skip
    more.add_argument("--fill", type=int, default=0, metavar="N",
                      help="tokens in the context for which f holds (default 0)")  # fmt: skip
    more.add_argument("--table", action="store_true", help="one row per number of layers")
    more.add_argument("--exact", action="store_true",
                      help="ask this computer's own llama.cpp too (its dry pass, no weights "
                      "are read)")  # fmt: skip
    more.add_argument("--json", action="store_true", help=f"print {product.schema('plan')}")


def main(options: Namespace) -> int:
    """Print the plan and return the exit status."""
    model = _read(options.model)
    request = replace(request_of(options, options.program), projector_path=options.mmproj or "")
    computer = computer_of(options)
    if options.no_device:
        request = replace(request, use_devices=False)
    try:
        prepared = placement.prepare(model)
    except UserError as error:
        raise CommandError.of(UNREADABLE, error) from error
    _check(request, computer)
    runs = _runs_of(options, prepared)
    situation = Situation(
        devices=computer.devices,
        host=computer.host,
        request=request,
        r=_ratio_of(options, computer, runs, prepared),
        build=options.build if options.build is not None else computer.build,
        fill=max(options.fill, 0),
        notes=computer.notes,
        machine=computer.machine,
        runs=runs,
        companions=_companions(options),
    )
    try:
        plan = planning.plan_of(model, prepared, situation)
        table = tuple(planning.table_of(model, prepared, situation)) if options.table else ()
    except UserError as error:
        raise CommandError.of(BAD_USAGE, error) from error
    try:
        said = exact.said_of(model, prepared, situation, computer) if options.exact else None
    except UserError as error:
        raise CommandError.of(FAILED, error) from error
    if options.json:
        document = plan_json(plan, table)
        if said is not None:
            document["llama_says"] = said_json(said)
        print(json.dumps(document, indent=1))
    else:
        print(plan_text.plan_text(plan, table))
        if said is not None:
            figures = compare(exact.dry_placement(prepared, situation), said)
            print("\n".join(exact.said_lines(figures, said)))
    return ANSWERED


def _read(path: str) -> Model:
    try:
        return read_model(path)
    except UserError as error:
        raise CommandError.of(UNREADABLE, error) from error


def _check(request: LoadRequest, computer: Computer) -> None:
    """Refuse what llama.cpp refuses before it loads anything."""
    names = {CPU, *(device.id for device in computer.devices)}
    for _pattern, buffer in request.overrides:
        if buffer not in names:
            raise CommandError(
                BAD_USAGE, f"There is no buffer {buffer}; known: {', '.join(sorted(names))}."
            )
    try:
        chosen = usable_devices(computer.devices, request)
    except UserError as error:
        raise CommandError.of(BAD_USAGE, error) from error
    if len(request.tensor_split) > max(len(computer.devices), 1):
        raise CommandError(
            BAD_USAGE,
            f"--tensor-split names {len(request.tensor_split)} devices, there are "
            f"{len(computer.devices)}.",
        )
    if chosen and request.tensor_split and not any(request.tensor_split[: len(chosen)]):
        raise CommandError(BAD_USAGE, "--tensor-split gives every device nothing.")


def _runs_of(options: Namespace, prepared: Prepared) -> tuple[BenchRun, ...]:
    """Return what was measured of the model; runs of here say nothing about described devices."""
    if options.device_free is not None:
        return ()
    from app.work.notebook import Notebook

    return Notebook().runs_of(prepared.name)


def _ratio_of(
    options: Namespace, computer: Computer, runs: tuple[BenchRun, ...], prepared: Prepared
) -> Estimate | None:
    """Return r: typed in, from this computer's own runs of the model, or from bandwidths."""
    if options.slow_ratio is not None:
        return Estimate.typed(options.slow_ratio, "typed in (--slow-ratio)")
    if options.device_free is not None or not computer.devices:
        return None
    return measured_r(runs, prepared.shape.layers_total) or table_r(
        computer.machine, computer.devices
    )


def _companions(options: Namespace) -> tuple[Companion, ...]:
    """Read the files that are loaded beside the model."""
    found = []
    if options.mmproj:
        projector = _read(options.mmproj)
        found.append(Companion(Kind.PROJECTOR, projector, not options.no_mmproj_offload))
    if options.draft:
        found.append(Companion(Kind.DRAFT, _read(options.draft)))
    return tuple(found)


def _ratio(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not a number") from None
    if not 0 < value < 1000:
        raise ArgumentTypeError(f"{text} is not between 0 and 1000")
    return value
