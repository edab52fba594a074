"""What `--on` names, and this computer as a machine."""

import platform
from pathlib import Path

from timpani.machine.cores import read_cores
from timpani.machine.model import Machine, NodeGroup, read_machine
from timpani.native.find import Mpi


def resolve(text: str) -> Machine:
    """The machine that `--on` names: a machine file."""
    return read_machine(Path(text))


def this_computer(mpi: Mpi) -> Machine:
    """The computer that this process runs on, with the cores that it may use."""
    cores = read_cores()
    sockets = cores.sockets if cores.usable == cores.present else 1  # which cores are left out is not known
    name = platform.node()
    group = NodeGroup(name=name, nodes=(name,), cores=cores.usable, sockets=sockets)
    return Machine(name=name, launcher=mpi.kind, groups=(group,))
