"""A lab of this computer: the library's own launcher, run on the first of the hosts."""

import os
from collections.abc import Mapping
from dataclasses import replace

from timpani.lab.enter import LAB_VARIABLE
from timpani.lab.lab import Lab, choose_whole_lab
from timpani.lab.layout import Layout
from timpani.lab.rate import parse_rate, show_rate
from timpani.lab.steps import burst_bytes
from timpani.libraries.launch_request import Command, LaunchRequest
from timpani.libraries.registry import LIBRARIES
from timpani.machine.nodes.model import Machine, NodeGroup
from timpani.native.mpi import Mpi

PREFIX = LAUNCHER = "lab"
"""Before a lab's id, and its word in a machine file."""


def lab_machine(text: str) -> Machine:
    """The machine that is `lab`, where there is but one, or `lab:ID`; called by its layout, as the next one may be."""
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
    """The rates of a lab's links, as tc writes them: each node's, and each group's to the other groups."""
    _, layout = _of(machine)
    uplink = {"uplink": show_rate(layout.uplink)} if layout.groups > 1 else {}
    return {"link": show_rate(layout.link), **uplink}


def rates(links: Mapping[str, str]) -> dict[str, float]:
    """Bytes per microsecond of each of the `links` that the function of that name returned."""
    return {name: parse_rate(rate) / 8e6 for name, rate in links.items()}


def shares_cores(machine: Machine) -> bool:
    """Whether the nodes have the same cores: those of a lab, or those of the Slurm that runs in the lab we are in."""
    return machine.launcher == LAUNCHER or LAB_VARIABLE in os.environ


def command(mpi: Mpi, request: LaunchRequest, machine: Machine) -> Command:
    """Never bound, and giving way while they wait: each node takes the computer's cores for its own."""
    lab, _ = _of(machine)
    started = LIBRARIES[mpi.kind].command(mpi, replace(request, oversubscribed=True))
    return replace(started, argv=lab.enter(request.hosts[0].name, started.argv))


def _of(machine: Machine) -> tuple[Lab, Layout]:
    return choose_whole_lab(machine.lab)
