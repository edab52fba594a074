"""Where a campaign runs: the machine, which of its nodes, and how many ranks fit."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Self

from timpani.campaign.plan.rank_pairs import DistinctPairs, pairs_here, pairs_on
from timpani.libraries.launch_request import HostList
from timpani.machine.cores import read_cores
from timpani.machine.detect import this_computer
from timpani.machine.nodes.host_list import capacity, choose_hosts, on_machine, with_slots
from timpani.machine.nodes.model import Machine
from timpani.native.mpi import Mpi


@dataclass(frozen=True)
class Resources:
    """A machine, and what of it a campaign may use.

    cores     how many ranks can have a core of their own at a placement
    distinct  pairs of ranks that sit differently close
    hosts     the nodes, with their slots; empty on this computer, whose launcher takes no host list
    concurrent_launches  run at a time: one, unless they are simulations, which disturb no other's times
    """

    machine: Machine
    cores: Callable[[str], int]
    distinct: DistinctPairs
    hosts: HostList = ()
    concurrent_launches: int = 1

    @property
    def on_this_computer(self) -> bool:
        """Whether all ranks run on this computer: a lab's and a simulation's do too."""
        return not self.hosts or not self.machine.own_cores

    @classmethod
    def here(cls, mpi: Mpi, placements: tuple[str, ...]) -> Self:
        """This computer."""
        cores = read_cores()
        return cls(this_computer(mpi), lambda _: cores.usable, pairs_here(placements, cores))

    @classmethod
    def on(cls, machine: Machine, hosts: HostList, placements: tuple[str, ...]) -> Self:
        """`hosts` of `machine`, or all its nodes if `hosts` is empty."""
        hosts = with_slots(machine, on_machine(machine, hosts) or choose_hosts(machine))
        concurrent = read_cores().usable if machine.simulated else 1
        return cls(machine, partial(capacity, machine, hosts), pairs_on(machine, hosts, placements), hosts, concurrent)
