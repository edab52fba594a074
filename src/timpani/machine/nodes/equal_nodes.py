"""Nodes in groups, as a description of each node gives them."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

_UNKNOWN = "nodes"
"""The name of a group whose switch is unknown."""

NodeFacts = tuple[str, int, int]
"""A node's switch, empty where it is unknown, its cores and its sockets."""


def groups_of_equal_nodes(nodes: Mapping[str, NodeFacts]) -> list[dict[str, Any]]:
    """The values of a machine's groups: equal nodes behind one switch, named after it.

    Different kinds of nodes behind one switch form separate groups, named after the switch and their cores.
    """
    equal: defaultdict[NodeFacts, list[str]] = defaultdict(list)
    for node, facts in nodes.items():
        equal[facts].append(node)
    kinds = [switch for switch, _, _ in equal]
    groups = []
    for (switch, cores, sockets), names in equal.items():
        kind = "" if kinds.count(switch) == 1 else f"-{cores}x{sockets}"
        name = f"{switch or _UNKNOWN}{kind}"
        shown = None if switch == name else switch
        groups.append({"name": name, "nodes": names, "cores": cores, "sockets": sockets, "switch": shown})
    return groups
