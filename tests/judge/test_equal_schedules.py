"""Algorithms that are one schedule under several names."""

from typing import Any

import polars as pl

from timpani.judge.equal_schedules import (
    EqualSchedules,
    equal_schedules,
    same_simulated_times,
    schedule_name,
    without_contradictions,
)


def cells(status: str, *times: tuple[str, float, float]) -> pl.DataFrame:
    """Algorithms with a time at each of two sizes."""
    return pl.DataFrame(
        [
            {
                **{"collective": "bcast", "ranks": 8, "placement": "core", "mode": "warm", "machine": "m"},
                **{
                    "arrival": "together",
                    "message_bytes": size,
                    "algorithm": name,
                    "label": name,
                    "median_us": time,
                    "status": status,
                },
            }
            for name, *at in times
            for size, time in zip((8, 1024), at, strict=True)
        ]
    )


def test_times_that_are_one_nanosecond_apart_are_the_same() -> None:
    found = same_simulated_times(
        cells("simulated", ("two_level", 1.0, 9.0), ("three_level", 1.001, 9.2), ("chain", 3.0, 9.001))
    )
    where = (
        "took the same simulated time at 1 of 2 points: a simulation can't distinguish them there, a lab (--on lab) or "
        "a cluster can"
    )
    assert found == (f"bcast: chain and two_level {where}", f"bcast: three_level and two_level {where}")


def test_measured_times_and_the_default_dont_count() -> None:
    assert same_simulated_times(cells("ok", ("two_level", 1.0, 9.0), ("three_level", 1.0, 9.0))) == ()
    assert same_simulated_times(cells("simulated", ("default", 1.0, 9.0), ("three_level", 1.0, 9.0))) == ()
    assert same_simulated_times(cells("failed+simulated", ("default", 1.0, 9.0))) == ()


NAMES = ("ratio", "ratio_low", "ratio_high")
ONE_WAY, BOTH_WAYS = [[0, 1], [0, 0]], [[0, 1], [1, 0]]


def proof(algorithm: str, messages: list[list[int]], size: int = 8) -> dict[str, Any]:
    where = {"ranks": len(messages), "message_bytes": size, "placement": "core", "mode": "warm", "arrival": "together"}
    cell = {
        "collective": "bcast",
        "variant": "default",
        "provider": "openmpi",
        "algorithm": algorithm,
        "parameters": "",
        **where,
    }
    return {**cell, "messages": messages, "bytes": messages}


def measured(*names: str, ranks: int = 2) -> pl.DataFrame:
    return cells("ok", *((name, 1.0, 1.0) for name in names)).with_columns(pl.lit(ranks).alias("ranks"))


def test_counted_messages_show_one_schedule_where_they_leave_no_order_open() -> None:
    names = ("default", "linear", "chain", "ring", "exchange")
    proofs = [proof(name, ONE_WAY) for name in names[:3]] + [proof(name, BOTH_WAYS) for name in names[3:]]
    equal = equal_schedules(measured(*names), proofs, {})
    assert equal == {("bcast", 2, 8): [("chain", "linear")]}  # nothing was counted at 1 KiB
    assert schedule_name(equal, "bcast", 2, 8, "linear") == "chain = linear"
    assert schedule_name(equal, "bcast", 2, 8, "ring") == "ring"
    tree = [[0, 1, 1], [0, 0, 0], [0, 0, 0]]
    both = [proof(name, tree) for name in ("linear", "chain")]
    assert equal_schedules(measured("linear", "chain", ranks=3), both, {}) == {("bcast", 3, 8): [("chain", "linear")]}


def test_other_code_with_the_same_messages_keeps_its_name() -> None:
    """In one campaign Open MPI's split_binary took 1.33 times as long as Timpani's, which sends the same messages."""
    own = [{**proof(name, ONE_WAY), "provider": "timpani"} for name in ("chain", "tree")]
    proofs = [proof("linear", ONE_WAY), *own]
    equal = equal_schedules(measured("linear", "timpani/chain", "timpani/tree"), proofs, {})
    assert equal == {("bcast", 2, 8): [("timpani/chain", "timpani/tree")]}


def test_known_equal_schedules_apply_only_to_two_ranks() -> None:
    known = {"bcast": (("binary", "chain", "linear"),)}
    there = measured("default", "chain", "linear", "ring")
    sets = [("chain", "linear")]
    assert equal_schedules(there, (), known) == {("bcast", 2, 8): sets, ("bcast", 2, 1024): sets}
    assert equal_schedules(measured("chain", "linear", ranks=4), (), known) == {}


def test_known_and_counted_equal_schedules_are_joined() -> None:
    known = {"bcast": (("chain", "linear"),)}
    equal = equal_schedules(measured("chain", "linear", "own"), [proof("own", ONE_WAY), proof("chain", ONE_WAY)], known)
    assert equal["bcast", 2, 8] == [("chain", "linear", "own")]
    assert equal["bcast", 2, 1024] == [("chain", "linear")]


def test_times_that_contradict_one_schedule_divide_it() -> None:
    """In one campaign reduce/binary took 1.09 times as long as linear, which sends the same messages."""
    equal: EqualSchedules = {("bcast", 2, 8): [("binary", "chain", "linear", "tree")], ("bcast", 2, 64): [("a", "b")]}
    place = {"placement": "core", "mode": "warm", "arrival": "together", "machine": "m", "variant": "default"}
    ratios = {
        "linear": (2.3, 2.2, 2.4),
        "tree": (2.28, 2.2, None),
        "binary": (2.1, 2.05, 2.13),
        "chain": (2.0, 1.9, 2.1),
    }
    compared = pl.DataFrame(
        [
            {
                "collective": "bcast",
                "ranks": 2,
                "message_bytes": 8,
                "label": label,
                **place,
                **dict(zip(NAMES, each, strict=True)),
            }
            for label, each in ratios.items()
        ]
    )
    divided = without_contradictions(equal, compared)
    assert divided == {("bcast", 2, 8): [("binary", "chain"), ("linear", "tree")], ("bcast", 2, 64): [("a", "b")]}
    assert schedule_name(divided, "bcast", 2, 8, "linear") == "linear = tree"
