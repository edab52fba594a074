"""What Slurm knows of a cluster, as data: `scontrol show topology`, topology.conf, sinfo, environment variables."""

import re
from collections.abc import Iterator, Mapping
from itertools import islice

from timpani.errors import UserError
from timpani.machine.batch.batch_system import NodeShape
from timpani.machine.nodes.model import NodeGroup
from timpani.machine.nodes.node_set import MOST_NODES, expand

SINFO_FORMAT = "%N %X %Y %Z"
"""For `sinfo --noheader --Node --format`: node, sockets, cores a socket, threads a core."""

_UNKNOWN = "nodes"
"""The name of a group whose switch is unknown."""

_LONGEST_NAME = 1000
_KEY_VALUE = re.compile(r"(\w+)=(\S+)")
_NODE = re.compile(r"([A-Za-z0-9][\w.-]{0,252}) +([1-9]\d{0,5}) +([1-9]\d{0,5}) +([1-9]\d{0,5})", re.ASCII)
_REPEATED = re.compile(r"(?<!\d)(\d{1,6})(?:\(x(\d{1,6})\))?(?!\d)", re.ASCII)


def parse_topology(text: str) -> dict[str, tuple[str, ...]]:
    """The nodes behind each lowest switch (or in each block), by its name.

    `text` is topology.conf or what `scontrol show topology` prints; both write a switch a line. A switch that leads to
    other switches only repeats their nodes.
    """
    leaves: dict[str, tuple[str, ...]] = {}
    for line in text.splitlines():
        values = dict(_KEY_VALUE.findall(line.partition("#")[0]))
        name = values.get("SwitchName") or values.get("BlockName")
        if name and name.isprintable() and len(name) < _LONGEST_NAME and "Nodes" in values and "Switches" not in values:
            leaves[name] = expand(values["Nodes"])
            if sum(map(len, leaves.values())) > MOST_NODES:
                raise UserError(f"the topology has more than {MOST_NODES} nodes", "describe them in a machine file")
    return leaves


def parse_sinfo(text: str) -> dict[str, NodeShape]:
    """The shape of each node, from lines of `SINFO_FORMAT`; a node in two partitions has two."""
    nodes = {}
    for line in text.splitlines():
        match = _NODE.fullmatch(line.strip())
        if not match:  # "n/a" of a node that never registered, say
            continue
        name, sockets, per_socket, threads = match.groups()
        # A slurm.conf that gives nodes a number of CPUs and nothing else makes each of them a socket.
        known = int(sockets) if int(per_socket) > 1 else 1
        nodes[name] = NodeShape(int(sockets) * int(per_socket), known, int(threads))
    return nodes


def parse_counts(text: str) -> tuple[int, ...]:
    """`48(x2),24` → 48, 48, 24: how Slurm gives a number for each node."""
    counts = (int(count) for count, times in _REPEATED.findall(text) for _ in range(int(times or 1)))
    return tuple(islice(counts, MOST_NODES))


def groups_of(nodes: Mapping[str, NodeShape], switches: Mapping[str, tuple[str, ...]]) -> Iterator[NodeGroup]:
    """Nodes by switch; one group of them all where no switch is known.

    Unlike nodes behind one switch are groups of their own, named after the switch and their cores.
    """
    behind = {node: switch for switch, names in switches.items() for node in names}
    alike: dict[tuple[str, int, int], list[str]] = {}
    for node, (cores, sockets, _) in nodes.items():
        alike.setdefault((behind.get(node, _UNKNOWN), cores, sockets), []).append(node)
    kinds = [switch for switch, _, _ in alike]
    for (switch, cores, sockets), names in alike.items():
        name = switch if kinds.count(switch) == 1 else f"{switch}-{cores}x{sockets}"
        behind_it = "" if switch == _UNKNOWN else switch
        shown = None if behind_it == name else behind_it
        yield NodeGroup(name=name, nodes=tuple(names), cores=cores, sockets=sockets, switch=shown)
