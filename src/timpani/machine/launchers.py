"""Chooses the launcher of a request: the library's, Slurm's, or the lab's."""

import os
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain, pairwise
from pathlib import Path

from timpani.errors import UserError
from timpani.libraries.library import Command, LaunchRequest
from timpani.libraries.registry import LIBRARIES
from timpani.machine.lab.lab import LAB_VARIABLE, choose_whole_lab, show_rate
from timpani.machine.lab.make import burst_bytes
from timpani.machine.nodes.host_list import requested_places
from timpani.machine.nodes.model import Machine, NodeGroup, fold
from timpani.machine.platform import read_platform
from timpani.native.mpi import Mpi
from timpani.study.cell import ranks_per_node

SRUN = "slurm"
"""Its name in a machine file."""

_DISTRIBUTIONS = {"socket": "block:cyclic", "node": "cyclic:block"}
"""Distribution over nodes, and over a node's sockets; other placements use block:block."""


def srun_command(mpi: Mpi, request: LaunchRequest, machine: Machine) -> Command:
    """The command, with ranks bound to one core each; without binding if there are more ranks than cores.

    srun uses nodes in the order of their names, whatever the order of the hosts.
    """
    library = LIBRARIES[mpi.kind]
    interface = library.launcher.slurm_interface
    if interface is None:
        raise UserError(f"srun can't start the ranks of {mpi}", "name its own launcher in the machine file")
    if interface not in interfaces():
        raise UserError(
            f"srun has no {interface}, which ranks of {mpi.title} need to find each other",
            f'`srun --mpi=list` shows what it has; write launcher = "{mpi.kind}" to start with its own launcher',
        )
    variables = {library.launcher.variable(name): value for name, value in request.parameters}
    return Command(
        argv=(
            *("srun", f"--mpi={interface}", "--kill-on-bad-exit", f"--ntasks={request.ranks}"),
            *(*_placement_options(request, machine), *request.arguments, *request.program),
        ),
        environment={**dict(mpi.environment), **variables, **request.environment},  # srun passes on its own environment
    )


def _placement_options(request: LaunchRequest, machine: Machine) -> tuple[str, ...]:
    if not request.hosts:  # this computer
        return "--nodes=1", *(("--overcommit", "--cpu-bind=none") if request.oversubscribed else ("--cpu-bind=cores",))
    if request.oversubscribed:
        nodes = [host.name for host in request.hosts]
        return f"--nodes={len(nodes)}", f"--nodelist={fold(nodes)}", "--overcommit", "--cpu-bind=none"
    places = requested_places(machine, request.hosts, request.placement, request.ranks)
    used = {place.host for place in places}
    most = ranks_per_node(request.placement) or max(host.slots or 1 for host in request.hosts)
    return (
        *(f"--nodes={len(used)}", f"--nodelist={fold(used)}", f"--ntasks-per-node={most}"),
        *(f"--distribution={_DISTRIBUTIONS.get(request.placement, 'block:block')}", "--cpu-bind=cores"),
    )


@cache
def interfaces() -> frozenset[str]:
    """The values of `srun --mpi` here."""
    srun = shutil.which("srun")
    if srun is None:
        return frozenset()
    listed = subprocess.run([srun, "--mpi=list"], capture_output=True, text=True, check=False)
    return frozenset((listed.stdout + listed.stderr).split())


LAB = "lab"
"""Prefix of a lab's id, and the launcher's name in a machine file."""


def lab_machine(text: str) -> Machine:
    """The machine of `lab`, if there is only one lab, or of `lab:ID`. Its name is the layout, as labs are recreated."""
    lab, layout = choose_whole_lab(text.partition(":")[2] or None)
    groups = {f"g{number}": layout.group(number) for number in range(1, layout.groups + 1)}
    return Machine(
        name=f"{LAB}:{layout.signature}",
        launcher=LAB,
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
    return {"link": show_rate(min(layout.link, layout.last_link or layout.link)), **uplink}


def shares_cores(machine: Machine) -> bool:
    """Whether the nodes share cores: those of a lab, or of Slurm in the current lab."""
    return machine.launcher == LAB or LAB_VARIABLE in os.environ


def lab_command(mpi: Mpi, request: LaunchRequest, machine: Machine) -> Command:
    """The command, without binding, and yielding while waiting: each node sees all of the computer's cores."""
    lab, _ = choose_whole_lab(machine.lab)
    started = LIBRARIES[mpi.kind].launcher.command(mpi, replace(request, oversubscribed=True))
    return replace(started, argv=lab.enter(request.hosts[0].name, started.argv))


_PRELOAD = "LD_PRELOAD"
_VARIABLE_LIST = "mca_base_env_list"
"""Open MPI's parameter for variables of all ranks. Version 5 drops those that `-x` gives too (5.0.11, observed)."""

_NEXT_PART = ":"  # between the programs of `mpirun -n 2 ./a : -n 2 ./b`


def pass_variables(
    command: Sequence[str], kind: str | None, variables: Mapping[str, str], preloaded: str
) -> tuple[list[str], dict[str, str]]:
    """The command, and the additions to the environment, with which all ranks get `variables`.

    kind       the library whose launcher the command starts with; None for another program
    preloaded  the current LD_PRELOAD: it is kept, after Timpani's library

    A launcher itself is not preloaded if it can be distinguished from its ranks. Libraries that the command itself
    preloads are kept, after Timpani's; UserError if the command preloads in an unknown way.
    """
    if Path(command[0]).name == "srun" and "," in variables[_PRELOAD]:
        raise UserError(
            f"srun would cut {variables[_PRELOAD]} at its commas",
            "set XDG_CACHE_HOME to a folder without commas in its path",
        )
    given = {**variables, _PRELOAD: _path(variables[_PRELOAD], preloaded)}
    first, *rest = command
    library = LIBRARIES[kind] if kind else None
    if library and library.launcher.export:
        parts = _parts(rest) if library.launcher.exports_by_part else [rest]
        return [first, *chain.from_iterable(_exported(part, library.launcher.export, given) for part in parts)], {}
    rest = _with_own(rest, given[_PRELOAD])
    if Path(first).name == "srun":  # it splits values of --export at commas, so only the library is passed
        loaded = given.pop(_PRELOAD)
        return [first, f"--export=ALL,{_PRELOAD}={loaded}", *rest], given
    return [first, *rest], given


def _path(*libraries: str) -> str:
    return ":".join(filter(None, libraries))


def _parts(words: Sequence[str]) -> list[list[str]]:
    """The programs of one command, each with the separator after it."""
    parts: list[list[str]] = [[]]
    for word in words:
        parts[-1].append(word)
        if word == _NEXT_PART:
            parts.append([])
    return parts


def _exported(
    words: Sequence[str], export: Callable[[str, str], tuple[str, ...]], given: Mapping[str, str]
) -> list[str]:
    """The launcher's options that pass `given` to the ranks, and `words` without their own preloads."""
    *leading, name = export(_PRELOAD, "")
    theirs: list[str] = []
    rest: list[str] = []
    position = 0
    while position < len(words):
        end = position + len(leading)
        if list(words[position:end]) == leading and end < len(words) and words[end].startswith(name):
            theirs.append(words[end].removeprefix(name))
            position = end + 1
        else:
            rest.append(words[position])
            position += 1
    all_given = {**given, _PRELOAD: _path(given[_PRELOAD], *theirs)}
    exported = [word for item in all_given.items() for word in export(*item)]
    return [*exported, *_with_own(rest, all_given[_PRELOAD])]


def _with_own(words: Sequence[str], libraries: str) -> list[str]:
    """The words of the command, with `libraries` first in each `LD_PRELOAD=…`, as `env` takes it."""
    return [_preloading(before, word, libraries) for before, word in pairwise(["", *words])]


def _preloading(before: str, word: str, libraries: str) -> str:
    if word.startswith(f"{_PRELOAD}=") and before != _VARIABLE_LIST and not any(map(str.isspace, word)):
        return f"{_PRELOAD}={_path(libraries, word.removeprefix(f'{_PRELOAD}='))}"
    if word == _PRELOAD or f"{_PRELOAD}=" in word:
        raise UserError(
            f"the command sets {_PRELOAD} ({word}), so libtimpani.so would not be loaded",
            f"leave that out and set {_PRELOAD} in the environment of `timpani preload`, which keeps it",
        )
    return word


def on_platform(request: LaunchRequest, machine: Machine) -> LaunchRequest:
    """`request` with the platform of `machine`, and a host for each rank."""
    assert machine.platform, "a simulated machine is read from its platform"
    places = requested_places(machine, request.hosts, request.placement, request.ranks)
    if len(places) < request.ranks:
        raise UserError(f"{machine.name} has fewer than {request.ranks} cores", "use fewer ranks")
    nodes: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    for socket in read_platform(platform := Path(machine.platform)):
        nodes[socket.node].append(socket.cores)
    hosts = tuple(nodes[place.host][place.socket or 0][place.core] for place in places)
    return replace(request, platform=platform, simulated_hosts=hosts)


_LAUNCHERS: dict[str, Callable[[Mpi, LaunchRequest, Machine], Command]] = {
    SRUN: srun_command,
    LAB: lab_command,
}
"""Those that are no library's own, by their word in a machine file."""


def command(mpi: Mpi, request: LaunchRequest, machine: Machine | None = None) -> Command:
    """The command that starts `request` with the launcher of `machine`; None: the library's, on this computer."""
    if machine and machine.launcher in _LAUNCHERS:
        return _LAUNCHERS[machine.launcher](mpi, request, machine)
    if machine and machine.simulated:
        request = on_platform(request, machine)
    return LIBRARIES[mpi.kind].launcher.command(mpi, request)
