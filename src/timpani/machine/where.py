"""What `--on` names."""

from pathlib import Path

from timpani.machine.model import Machine, read_machine


def resolve(text: str) -> Machine:
    """The machine that `--on` names: a machine file."""
    return read_machine(Path(text))
