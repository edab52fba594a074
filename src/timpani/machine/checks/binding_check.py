"""Checks whether ranks ran where requested."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from timpani.machine.nodes.host_list import same_host
from timpani.machine.nodes.node_set import fold_numbers
from timpani.machine.nodes.places import RankBinding


def check_binding(asked: Sequence[RankBinding], ran: Sequence[Mapping[str, Any]], own_cores: bool) -> str | None:
    """The differences between requested and actual places in words, with a map of both; None without differences.

    `ran` has each rank's `host`, `cores` and `sockets` from the measuring program. With `own_cores` each rank should
    have had its own cores, on the requested socket. Numbers of cores and sockets are not compared, only which ranks
    share them: Linux, hwloc and firmware number them differently.
    """
    if not all(same_host(place.host, there["host"]) for place, there in zip(asked, ran, strict=True)):
        return (
            f"requested {_show_hosts(place.host for place in asked)}; ran {_show_hosts(there['host'] for there in ran)}"
        )
    if not own_cores:
        return None
    for host in dict.fromkeys(place.host for place in asked):
        ranks = [rank for rank, place in enumerate(asked) if place.host == host]
        if mistake := _shared_cores(host, ranks, ran) or _on_other_sockets(host, ranks, asked, ran):
            return mistake
    return None


def _shared_cores(host: str, ranks: list[int], ran: Sequence[Mapping[str, Any]]) -> str | None:
    users = _ranks_by((rank, core) for rank in ranks for core in ran[rank]["cores"])
    if all(len(sharing) == 1 for sharing in users.values()):
        return None
    found = "; ".join(f"rank {rank} on {fold_numbers(ran[rank]['cores'])}" for rank in ranks)
    return f"requested a separate core for each rank of {host}; ran {found}"


def _on_other_sockets(
    host: str, ranks: list[int], asked: Sequence[RankBinding], ran: Sequence[Mapping[str, Any]]
) -> str | None:
    found = [ran[rank]["sockets"] for rank in ranks]
    if any(asked[rank].socket is None for rank in ranks) or any(
        len(sockets) != 1 or sockets[0] < 0 for sockets in found
    ):
        return None  # unknown
    wanted = _ranks_by((rank, asked[rank].socket) for rank in ranks)
    got = _ranks_by((rank, ran[rank]["sockets"][0]) for rank in ranks)
    # Only which ranks share a socket, whatever its number.
    shown, ran_on = (" | ".join(map(fold_numbers, groups.values())) for groups in (wanted, got))
    return None if shown == ran_on else f"requested ranks of {host} on sockets {shown}; ran {ran_on}"


def _ranks_by(pairs: Iterable[tuple[int, Any]]) -> dict[Any, list[int]]:
    """The ranks of each value, from ranks with one of their values."""
    ranks: defaultdict[Any, list[int]] = defaultdict(list)
    for rank, value in pairs:
        ranks[value].append(rank)
    return ranks


def _show_hosts(hosts: Iterable[str]) -> str:
    """`n1: 0-3, n2: 4-7`: the ranks on each host."""
    return ", ".join(f"{host}: {fold_numbers(ranks)}" for host, ranks in _ranks_by(enumerate(hosts)).items())
