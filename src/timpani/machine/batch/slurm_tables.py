"""What Slurm knows of a cluster, as data: `scontrol show topology`, topology.conf, sinfo, environment variables."""

import re
from collections.abc import Mapping
from itertools import islice
from typing import Any

from timpani.errors import UserError
from timpani.machine.batch.batch_system import NodeShape
from timpani.machine.nodes.equal_nodes import groups_of_equal_nodes
from timpani.machine.nodes.node_set import MAX_NODES, expand

SINFO_FORMAT = "%N %X %Y %Z"
"""For `sinfo --noheader --Node --format`: node, sockets, cores per socket, threads per core."""

_MAX_NAME_LENGTH = 1000
_KEY_VALUE = re.compile(r"(\w+)=(\S+)")
_NODE = re.compile(r"([A-Za-z0-9][\w.-]{0,252}) +([1-9]\d{0,5}) +([1-9]\d{0,5}) +([1-9]\d{0,5})", re.ASCII)
_REPEATED = re.compile(r"(?<!\d)(\d{1,6})(?:\(x(\d{1,6})\))?(?!\d)", re.ASCII)


def parse_topology(text: str) -> dict[str, tuple[str, ...]]:
    """The nodes behind each lowest switch (or in each block), by its name.

    `text` is topology.conf or the output of `scontrol show topology`; both have one switch per line. A switch above
    other switches only repeats their nodes.
    """
    leaves: dict[str, tuple[str, ...]] = {}
    for line in text.splitlines():
        values = dict(_KEY_VALUE.findall(line.partition("#")[0]))
        name = values.get("SwitchName") or values.get("BlockName")
        if (
            name
            and name.isprintable()
            and len(name) < _MAX_NAME_LENGTH
            and "Nodes" in values
            and "Switches" not in values
        ):
            leaves[name] = expand(values["Nodes"])
            if sum(map(len, leaves.values())) > MAX_NODES:
                raise UserError(f"the topology has more than {MAX_NODES} nodes", "describe them in a machine file")
    return leaves


def parse_sinfo(text: str) -> dict[str, NodeShape]:
    """The shape of each node, from lines of `SINFO_FORMAT`; a node in two partitions has two."""
    nodes = {}
    for line in text.splitlines():
        match = _NODE.fullmatch(line.strip())
        if not match:  # for example "n/a" of a node that never registered
            continue
        name, sockets, per_socket, threads = match.groups()
        # If slurm.conf gives only a number of CPUs, Slurm counts each of them as a socket.
        known = int(sockets) if int(per_socket) > 1 else 1
        nodes[name] = NodeShape(int(sockets) * int(per_socket), known, int(threads))
    return nodes


def parse_counts(text: str) -> tuple[int, ...]:
    """`48(x2),24` → 48, 48, 24: Slurm's notation of a number for each node."""
    counts = (int(count) for count, times in _REPEATED.findall(text) for _ in range(int(times or 1)))
    return tuple(islice(counts, MAX_NODES))


def groups_of(nodes: Mapping[str, NodeShape], switches: Mapping[str, tuple[str, ...]]) -> list[dict[str, Any]]:
    """The values of a machine's groups: nodes by switch; one group of them all where no switch is known."""
    behind = {node: switch for switch, names in switches.items() for node in names}
    facts = {node: (behind.get(node, ""), shape.cores, shape.sockets) for node, shape in nodes.items()}
    return groups_of_equal_nodes(facts)
