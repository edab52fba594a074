"""The hosts of a launch: which nodes of a machine, and in what order."""

import random
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from itertools import zip_longest
from math import inf

from timpani.errors import UserError
from timpani.libraries.launch_request import Host, HostList
from timpani.machine.nodes.model import Machine
from timpani.study.words import counted


def same_host(one: str, other: str) -> bool:
    """Whether two names are the same computer, ignoring domain and case."""
    one, other = one.lower(), other.lower()
    return one == other or one.startswith(f"{other}.") or other.startswith(f"{one}.")


def added_slots(mentions: Sequence[int | None]) -> int | None:
    """The total slots of a host that a file names several times; None if it is named once, without slots."""
    return mentions[0] if len(mentions) == 1 else sum(slots or 1 for slots in mentions)


def on_machine(machine: Machine, hosts: HostList) -> HostList:
    """`hosts` by their names in `machine`, ignoring domains; two names of one node are one host."""
    of_label: dict[str, list[str]] = defaultdict(list)
    for group in machine.groups:
        for node in group.nodes:
            of_label[_label(node)].append(node)
    named: dict[str, list[int | None]] = defaultdict(list)
    for host in hosts:
        candidates = of_label[_label(host.name)]
        same = [node for node in candidates if node == host.name] or [
            node for node in candidates if same_host(node, host.name)
        ]
        if len(same) > 1:
            raise UserError(f"{host.name} may be {' or '.join(same[:3])} of {machine.name}", "write the whole name")
        named[same[0] if same else host.name].append(host.slots)
    return tuple(Host(name, added_slots(mentions)) for name, mentions in named.items())


def _label(name: str) -> str:
    """The name without its domain."""
    return name.lower().partition(".")[0]


def choose_hosts(
    machine: Machine,
    category: int = 1,
    groups: int | None = None,
    nodes: int | None = None,
    slots: int | None = None,
    exclude: Collection[str] = (),
    seed: int | None = None,
    loads: Mapping[str, float] | None = None,
) -> HostList:
    """Choose `nodes` nodes, distributed evenly over `groups` groups as far as possible; by default all.

    category  1: all nodes of the first group, then of the second, …, with `slots` (or as many as the node has cores)
              2: in the same order, without slots
              3: alternating between groups, without slots
    exclude   nodes not to take
    seed      shuffles the groups before they are chosen; None: the machine's order
    loads     of nodes, cores kept busy: those of each group that are less loaded come first, those of unknown load last
    """
    for name in exclude:
        machine.group_of(name)  # rejects unknown names
    left = [[(group, node) for node in group.nodes if node not in exclude] for group in machine.groups]
    left = [members for members in left if members]
    if loads is not None:
        if not any(node in loads for members in left for _, node in members):
            raise UserError(f"no node of {machine.name} has a known load", f"name the nodes as {machine.name} does")
        left = [sorted(members, key=lambda member: loads.get(member[1], inf)) for members in left]
    if seed is not None:
        random.Random(seed).shuffle(left)  # noqa: S311 - an order to repeat, not a secret
    if groups is not None and groups > len(left):
        raise UserError(
            f"{machine.name} has {counted(len(left), 'group')} with nodes, not {groups}", "use fewer (--groups)"
        )
    left = left[:groups]
    alternating = [member for turn in zip_longest(*left) for member in turn if member]
    if nodes is not None and nodes > len(alternating):
        of = f"{counted(len(left), 'group')} of {machine.name}"
        raise UserError(f"{of} together have {counted(len(alternating), 'node')}, not {nodes}", "use fewer")
    chosen = alternating[:nodes]
    if category != 3:
        order = {group.name: number for number, [(group, _), *_] in enumerate(left)}
        chosen.sort(key=lambda member: order[member[0].name])
    return tuple(Host(node, (slots or group.cores) if category == 1 else None) for group, node in chosen)
