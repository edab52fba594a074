"""The hosts of a launch: which nodes of a machine, and in what order."""

import random
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, zip_longest
from math import inf, isfinite
from pathlib import Path

from timpani.errors import UserError
from timpani.libraries.library import Host, HostList
from timpani.machine.nodes.model import MAX_NODES, Machine, expand, fold
from timpani.reading import read_lines
from timpani.study.cell import category, ranks_per_node, shuffle_seed
from timpani.study.words import counted

_OVER_NODES = {1: "core", 2: "node", 3: "node"}


@dataclass(frozen=True)
class RankBinding:
    """The core of a rank, numbered from 0 in its socket; if the machine has one socket, `socket` is None."""

    host: str
    socket: int | None
    core: int


def resolve_mapping(machine: Machine, hosts: Sequence[Host], placement: str, ranks: int) -> tuple[HostList, str]:
    """The nodes among `hosts` that `category:C:N` uses for `ranks` ranks, in order, and the distribution over them. For
    other placements, `hosts` and `placement`. UserError if there are too few nodes."""
    found = category(placement)
    if found is None:
        return tuple(hosts), placement
    number, each = found
    if ranks % each:
        raise UserError(f"{ranks} ranks can't be {each} on each node", f"choose a multiple of {each}")
    given = {host.name for host in hosts}
    others = [node for group in machine.groups for node in group.nodes if node not in given]
    chosen = choose_hosts(machine, number, nodes=ranks // each, exclude=others, seed=shuffle_seed(placement))
    return tuple(Host(host.name, each) for host in chosen), _OVER_NODES[number]


def placement_problem(machine: Machine, hosts: Sequence[Host], placement: str, ranks: int) -> str:
    """Why `ranks` ranks can't be placed in this way; empty if they can. UserError without hosts."""
    if category(placement) is None:
        return ""
    if not hosts:
        raise UserError(
            f"{placement} orders nodes, but this computer is a single node",
            "name a machine with several nodes, for example --on simgrid:four-groups-of-4, or another --placement",
        )
    try:
        chosen, _ = resolve_mapping(machine, hosts, placement, ranks)
    except UserError as error:
        return error.what
    names = [host.name for host in chosen]
    for host in chosen:
        if (host.slots or 1) > (cores := machine.group_of(host.name).cores):
            return f"{host.slots} ranks on {host.name} would share its {cores} cores"
    if machine.launcher == "slurm" and names != list(expand(fold(names))):
        return "srun uses nodes in the order of their names"
    return ""


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


_LINE = re.compile(
    r"(?:(?P<user>[A-Za-z_][\w.-]*)@)?(?P<nodes>[^\s:@]+)(?::(?P<slots>[1-9]\d{0,5}))?(?P<settings>(?:\s+[\w-]+\s*=\s*\S+)*)",
    re.ASCII,
)
_SETTING = re.compile(r"([\w-]+)\s*=\s*(\S+)", re.ASCII)
_SLOTS = re.compile(r"[1-9]\d{0,5}", re.ASCII)
_SLOTS_KEYS = ("slots", "slot", "count", "cpus", "cpu")
_OTHER_KEYS = ("max_slots", "max-slots", "slots_max", "slots-max", "binding", "user", "username", "ifhn", "port")
"""Other settings of Open MPI's and Hydra's launchers; they don't affect which host gets ranks first."""

_MAX_MENTIONS = 1_000_000  # maximum of host mentions in one file: 100,000 nodes, ten times each


def read_hosts(path: Path) -> HostList:
    """The hosts of a file, in the order of their first line.

    A line is `name`, `name slots=N` or `name:N`; names may be node sets, and other settings of Open MPI's and Hydra's
    launchers are accepted. `#` begins a comment. Slots of a repeated host add up; a line without slots counts as one.
    """
    mentions: dict[str, list[int | None]] = {}
    count = 0
    for number, line in enumerate(read_lines(path, "the host file", "`timpani hostfile` prints one"), 1):
        text = line.partition("#")[0].strip()
        if not text:
            continue
        try:
            names, slots = _of_line(text)
        except UserError as error:
            raise UserError(f"{path}, line {number}: {error.what}", error.next_step) from None
        count += len(names)
        if count > _MAX_MENTIONS or len(mentions) > MAX_NODES:
            raise UserError(f"{path} names more than {MAX_NODES} hosts", "leave some out")
        for name in names:
            mentions.setdefault(name, []).append(slots)
    if not mentions:
        raise UserError(f"{path} names no host", "`timpani hostfile` prints one")
    return tuple(Host(name, added_slots(each)) for name, each in mentions.items())


def _of_line(text: str) -> tuple[Sequence[str], int | None]:
    """The names of a line, and the slots of each; None if it has none."""
    match = _LINE.fullmatch(text)
    if not match:
        raise UserError(f"{text!r} is not a host", "write name, name slots=N or name:N")
    slots = int(match["slots"]) if match["slots"] else None
    for key, value in _SETTING.findall(match["settings"]):
        if key in _SLOTS_KEYS and slots is None and _SLOTS.fullmatch(value):
            slots = int(value)
        elif key not in _OTHER_KEYS:
            raise UserError(f"{text!r} is not a host: {key}={value}", "write name, name slots=N or name:N")
    return expand(match["nodes"]), slots


_STEP = "write `NODE LOAD` lines, as `sinfo -Nho '%N %O'` prints them"
_UNKNOWN = "N/A"
"""Slurm's word for a load that a node did not report."""


def read_loads(path: Path) -> dict[str, float]:
    """Cores kept busy on each node; nodes of unknown load are left out. UserError where a line is something else."""
    loads: dict[str, float] = {}
    for number, line in enumerate(read_lines(path, "the file of loads", _STEP), 1):
        match line.split():
            case []:
                continue
            case [_, word] if word == _UNKNOWN:
                continue
            case [node, word] if (load := _load(word)) is not None:
                loads[node] = load
            case _:
                raise UserError(f"{path}, line {number}: {line.strip()!r} is not a node with its load", _STEP)
    if not loads:
        raise UserError(f"{path} has no node with a load", _STEP)
    return loads


def _load(word: str) -> float | None:
    try:
        value = float(word)
    except ValueError:
        return None
    return value if isfinite(value) and value >= 0 else None


def with_slots(machine: Machine, hosts: Sequence[Host]) -> HostList:
    """The hosts with slots: by default, as many as their cores."""
    return tuple(replace(host, slots=host.slots or machine.group_of(host.name).cores) for host in hosts)


def capacity(machine: Machine, hosts: Sequence[Host], placement: str) -> int:
    """Number of ranks that fit without sharing cores; for a category's host files, on any nodes."""
    placement = placement if category(placement) is None else "core"
    return sum(_slots_of(machine, host, placement) for host in hosts)


def requested_places(machine: Machine, hosts: Sequence[Host], placement: str, ranks: int) -> list[RankBinding]:
    """The place of each rank, in rank order; fewer than `ranks` if ranks would share cores."""
    hosts, placement = resolve_mapping(machine, hosts, placement, ranks)
    return list(islice(_places(machine, hosts, placement), ranks))


def ranks_on_one_node(machine: Machine, hosts: Sequence[Host], placement: str, counts: Sequence[int]) -> Iterator[str]:
    """Sentences on rank counts that use only the first of several hosts."""
    staying = [
        ranks
        for ranks in counts
        if not placement_problem(machine, hosts, placement, ranks)
        and len({each.host for each in requested_places(machine, hosts, placement, ranks)}) == 1
    ]
    if len(hosts) > 1 and staying:
        which = ", ".join(map(str, staying))
        yield f"{which} ranks by {placement} all run on {hosts[0].name}, the first of {len(hosts)} nodes"


def _slots_of(machine: Machine, host: Host, placement: str) -> int:
    cores = machine.group_of(host.name).cores
    return min(cores, ranks_per_node(placement) or host.slots or cores)


def _places(machine: Machine, hosts: Sequence[Host], placement: str) -> Iterator[RankBinding]:
    slots = [(host, _slots_of(machine, host, placement)) for host in hosts]
    if placement == "node":
        for turn in range(max((count for _, count in slots), default=0)):
            yield from (_place(machine, host, placement, turn) for host, count in slots if turn < count)
    else:
        for host, count in slots:
            yield from (_place(machine, host, placement, number) for number in range(count))


def _place(machine: Machine, host: Host, placement: str, number: int) -> RankBinding:
    """The place of rank `number` of a host: filling sockets, or alternating between them."""
    group = machine.group_of(host.name)
    if group.sockets == 1:
        return RankBinding(host.name, None, number)
    if placement == "socket":
        core, socket = divmod(number, group.sockets)
    else:
        socket, core = divmod(number, group.cores // group.sockets)
    return RankBinding(host.name, socket, core)
