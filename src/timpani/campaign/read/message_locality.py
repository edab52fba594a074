"""Messages between ranks: how close these sat, from where each launch ran them; and their names in other tables."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from timpani.campaign.folder.load import Campaign
from timpani.campaign.plan.from_study import pairs_among
from timpani.machine.describe import MachineDescription
from timpani.machine.nodes.host_list import RankBinding, same_host
from timpani.machine.nodes.locality import (
    LOCALITIES,
    CorePlace,
    Domains,
    Seat,
    locality,
    parts_of,
    requested_core_places,
    seats,
)
from timpani.study.cell import Algorithm, parse_parameters
from timpani.study.operations import OPERATIONS
from timpani.study.schema import LOCALITY, schema

MESSAGES = tuple(name for name, operation in OPERATIONS.items() if operation.kind == "point-to-point")
"""Operations that send messages between two ranks, or pairs of ranks."""

_PAIR = r"(?:(?:first|second)=\d+|window=64\b),?"
"""What a table of OSU's leaves out: the two ranks, and the window that its bandwidth benchmark has by default."""


def without_pairs(cells: pl.DataFrame) -> pl.DataFrame:
    """`cells` of `estimate_cells`, in which a message between two ranks is labeled without the pair, on 2 ranks.

    A published table of OSU's `latency` has the label `default`, a campaign `default:first=0,second=1`.
    Where a campaign has several pairs, `placement` names the pair.
    """
    key = ("collective", "placement")
    first, second = (pl.col("parameters").str.extract(rf"\b{end}=(\d+)") for end in ("first", "second"))
    named = pl.col("collective").is_in(MESSAGES) & first.is_not_null() & second.is_not_null()
    several = pl.struct(first.alias("first"), second.alias("second")).n_unique().over(key) > 1
    others = pl.col("parameters").str.replace_all(_PAIR, "").str.strip_chars_end(",")
    label = pl.col("label").str.replace_all(_PAIR, "").str.strip_chars_end(":,")
    return cells.with_columns(
        label=pl.when(named).then(label).otherwise("label"),
        parameters=pl.when(named).then(others).otherwise("parameters"),
        ranks=pl.when(named).then(2).otherwise("ranks"),
        placement=pl.when(named & several)
        .then(pl.format("{}, ranks {} and {}", "placement", first, second))
        .otherwise("placement"),
    )


_KEY = ("machine", "ranks", "placement", "parameters")

Localities = Mapping[tuple[str, int, str, str], str]
"""The locality by machine, rank count, placement and parameters of a point-to-point operation."""


class Spread(NamedTuple):
    """How far apart ranks ran: on how many nodes, and at most how many on one of them."""

    nodes: int
    on_one_node: int


class _Seats(NamedTuple):
    """Where the ranks of a launch ran, and the parts of each host as far as recorded."""

    places: dict[int, CorePlace]
    domains: Mapping[str, Domains]


def localities_of(campaign: Campaign) -> Localities:
    """The localities of all its messages between ranks, as far as launches recorded where those ran."""
    return {
        (name, *key): found for name, each in campaign.by_machine().items() for key, found in _localities(each).items()
    }


def _localities(campaign: Campaign) -> Mapping[tuple[int, str, str], str]:
    """The localities on one machine."""
    described = campaign.header.machine
    seated = [(launch.get("placement"), _seats(launch, described)) for launch in campaign.launches]
    switches = described.cluster.switches if described.cluster else {}
    keys = campaign.results.filter(pl.col("collective").is_in(MESSAGES)).select(_KEY[1:]).unique()
    localities = {}
    for ranks, placement, parameters in keys.iter_rows():
        pairs = pairs_among(Algorithm("", "", parse_parameters(parameters)), ranks)
        same_start = [seats for placed_by, seats in seated if len(seats.places) == ranks and placed_by == placement]
        domains = _common_domains(same_start)
        found = {
            locality(seats.places[first], seats.places[second], domains[seats.places[first].host], switches)
            for seats in same_start
            for first, second in pairs
        }
        if found:
            localities[ranks, placement, parameters] = ", ".join(sorted(found, key=LOCALITIES.index))
    return localities


def node_count(campaign: Campaign) -> int | None:
    """On how many nodes its ranks ran, all launches together; None if no launch recorded it."""
    seated = (_seats(launch, campaign.header.machine) for launch in campaign.launches)
    return len({place.host for seats in seated for place in seats.places.values()}) or None


def spreads_of(campaign: Campaign) -> dict[tuple[str, int, str], Spread]:
    """The widest spread by machine, rank count and placement, as far as launches recorded where ranks ran."""
    spreads: dict[tuple[str, int, str], Spread] = {}
    for name, each in campaign.by_machine().items():
        for launch in each.launches:
            hosts = Counter(place.host for place in _seats(launch, each.header.machine).places.values())
            if hosts and (placement := launch.get("placement")):
                key = name, hosts.total(), placement
                before = spreads.get(key, Spread(0, 0))
                spreads[key] = Spread(max(before.nodes, len(hosts)), max(before.on_one_node, *hosts.values()))
    return spreads


def _common_domains(seated: Sequence[_Seats]) -> Mapping[str, Domains]:
    """The parts of each host at the levels that every launch on it reported, so that one pair has one locality."""
    common_domains: dict[str, Domains] = {}
    for each in seated:
        for host, levels in each.domains.items():
            common = common_domains.get(host, levels)
            common_domains[host] = {level: parts for level, parts in levels.items() if level in common}
    return common_domains


def seats_of(campaign: Campaign) -> dict[tuple[int, str], tuple[Seat, ...]]:
    """Where each rank sits, by rank count and placement, as far as launches recorded where they ran."""
    seated: dict[tuple[int, str], _Seats] = {}
    for launch in campaign.launches:
        ranks_of_launch = _seats(launch, campaign.header.machine)
        if ranks_of_launch.places and (placement := launch.get("placement")):
            seated[len(ranks_of_launch.places), placement] = ranks_of_launch
    found = {}
    for ranks, placement in campaign.results.select("ranks", "placement").unique().iter_rows():
        if (ranks, placement) in seated:
            places, domains = seated[ranks, placement]
            found[ranks, placement] = seats([places[rank] for rank in range(ranks)], domains)
    return found


def locality_of(name: Mapping[str, Any], localities: Localities) -> str | None:
    """The locality of the curve or cell of that name, by column; None if it has none or none was recorded."""
    key = name["machine"], name["ranks"], name["placement"], name["parameters"]
    return localities.get(key) if name["collective"] in MESSAGES else None


def with_locality(cells: pl.DataFrame, campaign: Campaign) -> pl.DataFrame:
    """The cells of `campaign`, as `estimate_cells` returns them, with the column LOCALITY."""
    rows = [(*key, found) for key, found in localities_of(campaign).items()]
    localities = pl.DataFrame(rows, schema={**schema(*_KEY), LOCALITY: pl.String()}, orient="row")
    return cells.join(localities, on=_KEY, how="left", maintain_order="left").with_columns(
        pl.when(pl.col("collective").is_in(MESSAGES)).then(LOCALITY)
    )


def _seats(launch: Mapping[str, Any], described: MachineDescription) -> _Seats:
    machine = described.cluster
    ran = launch.get("ranks") or []
    if machine and machine.simulated:  # its ranks know of SimGrid's hosts, of which a node may have many
        asked = requested_core_places(machine, (RankBinding(**place) for place in launch.get("asked") or []))
        return _Seats(dict(enumerate(asked)), {place.host: parts_of(machine, place.host) for place in asked})
    nodes = [node for group in machine.groups for node in group.nodes] if machine else []
    places = {each["rank"]: CorePlace(_node(each["host"], nodes), frozenset(each["cores"])) for each in ran}
    found: dict[str, dict[str, dict[int, set[int]]]] = defaultdict(lambda: defaultdict(lambda: defaultdict(set)))
    for each in ran if machine is None or machine.own_cores else []:
        for level, key in _FIELDS.items():
            if len(each.get(key, [])) == 1 and each[key][0] >= 0:
                found[places[each["rank"]].host][level][each[key][0]].update(each["cores"])
    by_ranks = {
        host: {level: [frozenset(cores) for cores in parts.values()] for level, parts in levels.items()}
        for host, levels in found.items()
    }
    hosts = {place.host for place in places.values()}
    return _Seats(places, {host: described.domains_of(host) or by_ranks.get(host, {}) for host in hosts})


_FIELDS = {"socket": "sockets", "last_level_cache": "caches"}
"""What a rank recorded of each level, by key."""


def _node(host: str, nodes: Sequence[str]) -> str:
    """The machine's name of a host, which may include its domain."""
    return host if host in nodes else next((node for node in nodes if same_host(node, host)), host)
