"""Profiles written as the native library writes them, without a program."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from timpani.programs.profile.profile_folder import ProfileHeader, ProfileWriter, ProgramMpi
from timpani.reading import checked_line

CALL: Mapping[str, Any] = {
    "line": "calls",
    "name": "allreduce",
    "form": "blocking",
    "world": True,
    "between_groups": False,
    "ranks": 2,
    "nodes": 1,
    "per_node": 2,
    "made": "predefined",
    "size_class": 11,
    "in_place": False,
    "operator": "sum",
    "datatype": "double",
    "algorithm": "",
    "reason": "",
    "calls": 200,
    "bytes": 200 * 1024,
    "ns": 4_000_000_000,
    "ns_max": 3_000_000_000,
    "longest_ns": 90_000_000,
    "root": 0,
    "root_calls": 0,
    "rooted_calls": 0,
    "matched_calls": 200,
    "matched_ns": 4_000_000_000,
    "waiting_ns": 1_000_000_000.0,
    "waiting_error_ns": 0.0,
}
"""100 calls of allreduce of 1 KiB on two ranks, which take 2 s of each rank, 0.5 s of it waiting."""

WALL_NS = 10_000_000_000


def rank_line(rank: int, host: str) -> dict[str, Any]:
    times = {f"{form}_ns": 0 for form in ("non_blocking", "persistent", "message", "completion", "setup")}
    return {
        "line": "rank",
        "rank": rank,
        "host": host,
        "program": "app",
        "wall_ns": WALL_NS,
        "blocking_ns": 2_000_000_000,
        **times,
    }


def part_text(
    calls: Iterable[Mapping[str, Any]] = (CALL,), hosts: Sequence[str] = ("n1", "n1"), **program: Any
) -> bytes:
    """A part of a rank on each of `hosts`."""
    first = {"line": "program", "version": 1, "reporting": 2, "world_ranks": 2, "note": "", "clocks": 1}
    lines = [{**first, "clock_error_ns": 50, **program}, *map(rank_line, range(len(hosts)), hosts), *map(_sized, calls)]
    return b"".join(map(checked_line, [*lines, {"line": "end", "lines": len(lines)}]))


def late(stratum: str, rank: int, mean_ns: float, **values: Any) -> dict[str, Any]:
    """The lateness of one of two ranks in 100 calls of allreduce of 1 KiB."""
    line = {"line": "lateness", "stratum": stratum, "rank": rank, "name": "allreduce", "world": True, "ranks": 2}
    sampled = {"nodes": 1, "per_node": 2, "size_class": 11, "calls": 100, "sampled": 100, "last_calls": 50}
    times = dict.fromkeys(("deviation_ns", "median_ns", "ninth_decile_ns", "largest_ns", "completion_ns"), 0.0)
    return {**line, **sampled, **times, "mean_ns": mean_ns, **values}


def _sized(line: Mapping[str, Any]) -> Mapping[str, Any]:
    """The line of calls with their smallest and largest size: the mean, where it does not say them."""
    if line["line"] != "calls":
        return line
    mean = line["bytes"] // max(line["calls"], 1)
    return {"smallest_bytes": mean, "largest_bytes": mean, **line}


OPEN_MPI = ProgramMpi(kind="openmpi", name="Open MPI", version="4.1.4", mpirun="/usr/bin/mpirun")


def write_profile(folder: Path, *parts: bytes, mpi: ProgramMpi = OPEN_MPI) -> Path:
    """A sealed profile of these parts."""
    writer = ProfileWriter(folder, ProfileHeader(command=("mpirun", "-np", "2", "./app"), mpi=mpi))
    for number, text in enumerate(parts, 1):
        (folder / f"part-{number}.jsonl").write_bytes(text)
    writer.seal(0, WALL_NS / 1e9)
    return folder
