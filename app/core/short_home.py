"""Writes the home folder of a machine's paths as ~: its name is often a person's."""

import re
from dataclasses import replace

from app.core.machine import Machine, MachineFact, Runtime


def short_home(machine: Machine, home: str) -> Machine:
    """Return the machine with ~ for the home folder in every text; home "" changes nothing."""
    root = home.rstrip("/\\")
    if not root:  # an account without a home, or one whose home is /
        return machine
    pattern = re.compile(rf"{re.escape(root)}(?=[/\\]|\s|$)")

    def short(text: str) -> str:
        return pattern.sub("~", text)

    def fact(one: MachineFact) -> MachineFact:
        reading = replace(
            one.reading, source=short(one.reading.source), reason=short(one.reading.reason)
        )
        return MachineFact(one.path, reading)

    def runtime(one: Runtime) -> Runtime:
        programs = tuple(replace(program, path=short(program.path)) for program in one.programs)
        return replace(
            one,
            folder=short(one.folder),
            source=short(one.source),
            programs=programs,
            argv=tuple(short(word) for word in one.argv),
        )

    return replace(
        machine,
        facts=tuple(fact(one) for one in machine.facts),
        devices=tuple(replace(one, source=short(one.source)) for one in machine.devices),
        runtimes=tuple(runtime(one) for one in machine.runtimes),
        devices_source=short(machine.devices_source),
        skipped=tuple(short(text) for text in machine.skipped),
    )
