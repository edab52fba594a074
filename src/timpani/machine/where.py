"""The machine of `--on`."""

from pathlib import Path

from timpani.errors import UserError
from timpani.libraries.find import choose_mpi
from timpani.machine.batch.batch_systems import names_batch_system
from timpani.machine.detect import detect
from timpani.machine.launchers import LAB, lab_machine
from timpani.machine.nodes.model import Machine, read_machine
from timpani.machine.platforms.platform import find_platform, machine_of
from timpani.study.trust import how_to_trust, is_trusted

HERE = "here"
"""Instead of a machine file: the machine that `timpani machine detect` finds."""

SIMULATED = "simgrid:"
"""Prefix of a platform's name or file: a machine simulated by SimGrid."""


def resolve(text: str, mpi: str | None = None) -> Machine:
    """The machine of `--on`: a machine file, a lab, `simgrid:PLATFORM`, or `here` with the library `mpi`."""
    if text.startswith(SIMULATED):
        return machine_of(find_platform(text.removeprefix(SIMULATED)))
    if names_batch_system(text):
        raise UserError(f"{text!r} asks for a job", "only `timpani run`, `tune` and `confirm` run in one")
    if text == HERE:
        return detect(choose_mpi(mpi))
    if text.partition(":")[0] == LAB:
        return lab_machine(text)
    machine = read_machine(Path(text))
    _check_trusted(Path(text), machine)
    return machine


def _check_trusted(file: Path, machine: Machine) -> None:
    """UserError if a machine file names programs or modules by their path, and nobody agreed to it."""
    named = [each for each in (machine.mpi or "", *machine.modules) if each.startswith(("/", ".", "~"))]
    if named and not is_trusted(file):
        raise UserError(f"{file} can run programs: it names {named[0]}", how_to_trust(file))
