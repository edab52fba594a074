"""`timpani hostfile`: print which nodes of a machine to use, in a library's syntax."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from timpani.errors import UserError, unknown

if TYPE_CHECKING:
    from timpani.libraries.hosts import HostList
    from timpani.libraries.library import Library
    from timpani.machine.nodes.model import Machine

_Loads = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Take the less loaded nodes of each group: lines `NODE LOAD`, as sinfo -Nho '%N %O' prints them.",
    ),
]


def hostfile(
    on: Annotated[
        str | None, typer.Option(metavar="WHERE", help="A machine file; without it, this computer or allocation.")
    ] = None,
    category: Annotated[
        int,
        typer.Option(min=1, max=3, help="1: by group, with slots; 2: by group; 3: nodes alternating between groups."),
    ] = 1,
    groups: Annotated[int | None, typer.Option(min=1, help="How many groups; by default all.")] = None,
    nodes: Annotated[int | None, typer.Option(min=1, help="How many nodes; by default all.")] = None,
    slots: Annotated[
        int | None, typer.Option(min=1, help="Ranks of a node in category 1; by default its cores.")
    ] = None,
    exclude: Annotated[str | None, typer.Option(metavar="NODES", help="A node set to leave out: node[03,07].")] = None,
    shuffle: Annotated[int | None, typer.Option(metavar="SEED", help="Shuffle the groups by this seed.")] = None,
    loads: _Loads = None,
    syntax: Annotated[
        str, typer.Option(metavar="LIBRARY", help="The library whose launcher will read it: openmpi, mpich, …")
    ] = "openmpi",
    ranks: Annotated[
        int | None, typer.Option(min=1, help="Write Open MPI's rank file instead, a line for each rank.")
    ] = None,
    placement: Annotated[str, typer.Option(help="Placement in the rank file: core, socket, node or ppr:N.")] = "core",
) -> None:
    """Print a host file, or a rank file. `timpani run --hosts FILE` takes host files; mpirun takes both."""
    from timpani.libraries.hosts import host_file
    from timpani.libraries.registry import LIBRARIES
    from timpani.machine.nodes.host_list import choose_hosts
    from timpani.machine.nodes.node_loads import read_loads
    from timpani.machine.nodes.node_set import expand
    from timpani.machine.where import HERE, resolve

    machine = resolve(on or HERE)
    hosts = choose_hosts(
        machine, category, groups, nodes, slots, expand(exclude or ""), shuffle, read_loads(loads) if loads else None
    )
    if syntax not in LIBRARIES:
        raise unknown("syntax", syntax, LIBRARIES, "timpani hostfile --help")
    library = LIBRARIES[syntax]
    if ranks is None:
        typer.echo(host_file(hosts, library.host_with_slots), nl=False)
        return
    typer.echo(_rank_file(machine, hosts, library, placement, ranks), nl=False)


def _rank_file(machine: "Machine", hosts: "HostList", library: "Library", placement: str, ranks: int) -> str:
    from timpani.machine.nodes.host_file import rank_file
    from timpani.machine.nodes.places import requested_places
    from timpani.study.placement import check_placement

    places = requested_places(machine, hosts, check_placement(placement), ranks)
    if len(places) < ranks:
        raise UserError(f"these hosts have {len(places)} slots for {ranks} ranks", "ask for fewer ranks or more nodes")
    return rank_file(places, library)
