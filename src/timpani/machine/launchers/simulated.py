"""A launch on a simulated machine: the platform's host of each rank."""

from collections import defaultdict
from dataclasses import replace
from pathlib import Path

from timpani.errors import UserError
from timpani.libraries.launch_request import LaunchRequest
from timpani.machine.nodes.model import Machine
from timpani.machine.nodes.places import requested_places
from timpani.machine.platforms.platform import read_platform


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
