"""A lab on this computer: the library's launcher, run on the first host."""

import os
from dataclasses import replace

from timpani.lab.enter import LAB_VARIABLE
from timpani.lab.lab import choose_whole_lab
from timpani.lab.rate import show_rate
from timpani.lab.steps import burst_bytes
from timpani.libraries.launch_request import Command, LaunchRequest
from timpani.libraries.registry import LIBRARIES
from timpani.machine.nodes.model import Machine, NodeGroup
from timpani.native.mpi import Mpi

PREFIX = LAUNCHER = "lab"
"""Prefix of a lab's id, and the launcher's name in a machine file."""


def lab_machine(text: str) -> Machine:
    """The machine of `lab`, if there is only one lab, or of `lab:ID`. Its name is the layout, as labs are recreated."""
    lab, layout = choose_whole_lab(text.partition(":")[2] or None)
    groups = {f"g{number}": layout.group(number) for number in range(1, layout.groups + 1)}
    return Machine(
        name=f"{PREFIX}:{layout.signature}",
        launcher=LAUNCHER,
        lab=lab.id,
        link_burst=burst_bytes(layout.link),
        uplink_burst=burst_bytes(layout.uplink) if layout.groups > 1 else None,
        groups=tuple(
            NodeGroup(name=name, nodes=tuple(node.name for node in nodes), cores=layout.cores)
            for name, nodes in groups.items()
        ),
    )


def links(machine: Machine) -> dict[str, str]:
    """The rates of a lab's links in tc's notation: of each node's link, and of each group's uplink."""
    _, layout = choose_whole_lab(machine.lab)
    uplink = {"uplink": show_rate(layout.uplink)} if layout.groups > 1 else {}
    return {"link": show_rate(layout.link), **uplink}


def shares_cores(machine: Machine) -> bool:
    """Whether the nodes share cores: those of a lab, or of Slurm in the current lab."""
    return machine.launcher == LAUNCHER or LAB_VARIABLE in os.environ


def command(mpi: Mpi, request: LaunchRequest, machine: Machine) -> Command:
    """The command, without binding, and yielding while waiting: each node sees all of the computer's cores."""
    lab, _ = choose_whole_lab(machine.lab)
    started = LIBRARIES[mpi.kind].command(mpi, replace(request, oversubscribed=True))
    return replace(started, argv=lab.enter(request.hosts[0].name, started.argv))
