"""Whether a table keeps its promise, from made-up campaigns whose answers are known."""

from collections.abc import Mapping
from dataclasses import replace
from math import prod, sqrt
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.campaign_files import cell, machine, made_up, results_frame, results_of
from timpani.campaign.folder.launch_result import LaunchResult
from timpani.campaign.folder.load import Campaign
from timpani.campaign.plan.plan import CampaignPlan, Group, PlannedCell
from timpani.campaign.plan.prepared_variant import PreparedVariant
from timpani.errors import UserError
from timpani.libraries.registry import LIBRARIES
from timpani.machine.nodes.model import Machine
from timpani.native.mpi import Mpi
from timpani.study.cell import Algorithm, Cell
from timpani.study.operations import CallArguments
from timpani.study.schema import cell_columns
from timpani.study.selection import Rule, SelectionTable, Span
from timpani.study.study import Study
from timpani.tune.confirmation import (
    ConfirmedPoint,
    Unreached,
    confirm,
    losing_points,
    mean_regret,
    unreached_calls,
    without_losing_rules,
)
from timpani.tune.confirmation_study import cells_to_prove, confirmation_study, placed_as_measured, rules_first
from timpani.tune.confirmation_text import confirmed_document, confirmed_lines

MACHINE = {"name": "m", "launcher": "openmpi", "groups": [{"name": "g", "nodes": "n1", "cores": 4}]}
STUDY = Study.check(
    {"collectives": {"bcast": "all"}, "ranks": 2, "sizes": [64, 1024], "launches": 8}, "test"
).model_dump(mode="json")
MPI = Mpi("openmpi", "Open MPI", "5.0.11", Path("mpirun"), Path("mpicxx"), None)
RING, LINEAR = Algorithm("openmpi", "ring"), Algorithm("openmpi", "linear")
TABLE = SelectionTable(
    "openmpi", "5.0.11", (Rule("bcast", RING, ranks=Span(2, 2), nodes=Span(1, 1), sizes=Span(64, 1024)),)
)


def campaign(times: Mapping[tuple[str, int], float], messages: Mapping[tuple[str, int], int] | None = None) -> Campaign:
    """Eight launches of each algorithm and size around its time; `messages` are those that rank 0 sends to rank 1."""
    proofs: list[dict[str, Any]] = [
        {**cell_columns(cell(name, size)), "messages": [[0, count], [0, 0]], "bytes": [[0, size], [0, 0]]}
        for (name, size), count in (messages or {}).items()
    ]
    results = results_of({cell(*key): time for key, time in times.items()}, machine="m")
    return made_up(results, proofs=proofs, machine=machine(1), study=STUDY)


def and_also(measured: Campaign, *more: LaunchResult) -> Campaign:
    return replace(measured, results=pl.concat([measured.results, results_frame(more)], how="diagonal"))


def planned(cells: list[Cell]) -> CampaignPlan:
    """A start of these cells."""
    numbered = tuple(PlannedCell(number, each, (), ()) for number, each in enumerate(cells))
    variant = PreparedVariant.plain(MPI)
    group = Group(2, "core", CallArguments(), False, (), {}, numbered, variant)
    return CampaignPlan(Study.check(STUDY, "test"), MPI, (group,), (), Machine.check(MACHINE, "test"))


def of_program(measured: Campaign) -> Campaign:
    """The same campaign, as a race for a program."""
    weights = [
        {"collective": "bcast", "ranks": 2, "placement": "core", "message_bytes": size, "share": 0.3}
        for size in (64, 1024)
    ]
    study = {**STUDY, "weights": weights, "regret": 0.01}
    recorded = {**measured.header.recorded, "study": study}
    return replace(measured, header=measured.header.model_copy(update={"recorded": recorded}))


BEFORE = campaign({("default", 64): 10, ("ring", 64): 5, ("default", 1024): 10, ("ring", 1024): 5})


TEST_SIZE = 161  # a third of the way from 64 to 1024


def found(times: Mapping[str, float], size: int = TEST_SIZE, **sent: int) -> ConfirmedPoint:
    messages = {(name, size): count for name, count in sent.items()}
    [one] = confirm(TABLE, BEFORE, campaign({(name, size): time for name, time in times.items()}, messages))
    return one


def test_a_choice_that_is_faster_has_gained_and_one_that_is_slower_has_lost() -> None:
    gained = found({"default": 10, "ring": 5, "tuned": 5})
    assert (gained.standing, gained.test_size, gained.algorithm) == ("gained", True, RING)
    assert gained.gain is not None
    assert 1.9 < gained.gain.ratio < 2.1
    lost = found({"default": 10, "ring": 12, "tuned": 12})
    assert (lost.standing, losing_points([gained, lost])) == ("lost", [lost])
    assert without_losing_rules(TABLE, [lost]).rules == ()
    for_order = replace(TABLE, rules=tuple(replace(rule, for_order=True) for rule in TABLE.rules))
    assert without_losing_rules(for_order, [lost]) == for_order
    assert without_losing_rules(for_order, [replace(lost, proof="failed")]).rules == ()
    assert found({"default": 10, "ring": 10.05, "tuned": 10}).standing == "kept"


def test_points_that_the_budget_did_not_reach_are_named() -> None:
    measured = campaign({("default", 64): 10, ("ring", 64): 5, ("tuned", 64): 5})
    planned = [cell("default", size) for size in (64, 1024, 4096)]  # the last has no rule
    unreached = Unreached(unreached_calls(TABLE, BEFORE, measured, planned))
    assert [call.message_bytes for call in unreached.calls] == [1024]
    confirmed = confirm(TABLE, BEFORE, measured)
    line = "not confirmed, because the budget was spent before: bcast, 1 KiB"
    assert line in list(confirmed_lines(confirmed, unreached))
    assert line in confirmed_document(TABLE, confirmed, measured, [], unreached)["results"].items


def test_files_that_make_the_library_slower_lose_though_the_algorithm_wins() -> None:
    assert found({"default": 10, "ring": 5, "tuned": 20}).standing == "lost"


@pytest.mark.parametrize(
    ("tuned", "sent", "proof"),
    [
        (5.0, {"ring": 2, "tuned": 2, "default": 1}, "messages"),
        (5.0, {"ring": 2, "tuned": 1, "default": 1}, "other"),
        (5.0, {"ring": 1, "tuned": 1, "default": 1}, "times"),  # all send the same messages
        (10.0, {"ring": 1, "tuned": 1, "default": 1}, "other"),
        (5.0, {}, "times"),
        (6.2, {}, "open"),
    ],
)
def test_sent_messages_prove_that_files_are_followed(tuned: float, sent: dict[str, int], proof: str) -> None:
    one = found({"default": 10, "ring": 5, "tuned": tuned}, **sent)
    assert one.proof == proof
    assert (one in losing_points([one])) is (proof == "other")


def test_files_that_slow_calls_without_a_rule_lose_all_that_they_say_of_the_collective() -> None:
    outside = found({"default": 10, "ring": 20, "tuned": 20}, size=4096)
    assert (outside.algorithm, outside.standing) == (None, "lost")
    other = Rule("reduce", LINEAR)
    table = SelectionTable("openmpi", "5.0.11", (*TABLE.rules, other))
    assert without_losing_rules(table, losing_points([outside])).rules == (other,)
    assert any(
        "calls without a rule become slower or fail with the files: bcast, 4 KiB" in line
        for line in confirmed_lines([outside])
    )


@pytest.mark.parametrize(("with_files", "standing"), [(0.5, "gained"), (1.0, "kept"), (1.3, "lost")])
def test_files_interleaved_with_their_algorithms_are_judged_by_their_gain(with_files: float, standing: str) -> None:
    """The choice is twice as fast when forced; what the library does with its files counts, although starts differ."""
    found = []
    for launch in range(1, 11):
        state = 3.0 if launch % 2 else 1.0
        without = {"default": 10.0, "ring": 5.0}
        under = {"tuned": 10.0 * with_files, "tuned-ring": 5.0}
        for start, factor, times in ((0, 1.0, without), (1, state, under)):
            mean = sqrt(prod(times.values()))
            found += [
                LaunchResult(
                    cell(name, TEST_SIZE),
                    launch,
                    "m",
                    median_us=factor * time * (1 + launch / 1000),
                    interleaving=f"{launch}.{start}/7",
                    relative=time / mean * (1 + launch / 1000 * (name == "tuned")),
                )
                for name, time in times.items()
            ]
    [one] = confirm(TABLE, BEFORE, replace(BEFORE, results=results_frame(found)))
    assert one.standing == standing
    assert not any("selected directly" in line for line in confirmed_lines([one]))  # what was judged are the files
    assert one.by_file is not None
    assert 0.98 < one.by_file.ratio * with_files < 1.02


@pytest.mark.parametrize("broken", ["tuned", "ring"])
def test_an_algorithm_that_fails_with_or_without_files_has_lost(broken: str) -> None:
    times = {(name, TEST_SIZE): time for name, time in (("default", 10.0), ("ring", 5.0), ("tuned", 5.0))}
    measured = campaign({key: time for key, time in times.items() if key[0] != broken})
    wrong = LaunchResult(cell(broken, TEST_SIZE), 1, "m", error="wrong data")
    [one] = confirm(TABLE, BEFORE, and_also(measured, wrong))
    assert (one.standing, one.proof) == ("lost", "failed")
    assert without_losing_rules(TABLE, losing_points([one])).rules == ()


@pytest.mark.parametrize(
    ("broken", "error"),
    [("default", "wrong data"), ("default", "ended with status 137"), ("ring", "ended with status 137: killed")],
)
def test_points_without_times_are_named_and_keep_their_rules(broken: str, error: str) -> None:
    times = {(name, TEST_SIZE): time for name, time in (("default", 10.0), ("ring", 5.0), ("tuned", 5.0))}
    measured = campaign({key: time for key, time in times.items() if key[0] != broken})
    ended = LaunchResult(cell(broken, TEST_SIZE), 1, "m", error=error)
    [one] = confirm(TABLE, BEFORE, and_also(measured, ended))
    assert (one.standing, losing_points([one]), mean_regret([one])) == ("unknown", [], None)
    first, second, *_ = confirmed_lines([one])
    assert "0 slower, 1 unknown" in first
    assert second.endswith("has no time: bcast, 161 B")


def test_one_killed_launch_removes_no_rule() -> None:
    times = {(name, TEST_SIZE): time for name, time in (("default", 10.0), ("ring", 5.0), ("tuned", 5.0))}
    measured = campaign(times)
    killed = LaunchResult(cell("ring", TEST_SIZE), 9, "m", error="ended with status 137")
    [one] = confirm(TABLE, BEFORE, and_also(measured, killed))
    assert (one.standing, one.proof) == ("gained", "times")


def test_messages_are_counted_if_the_librarys_file_and_timpanis_have_a_rule() -> None:
    ours = Rule("bcast", Algorithm("timpani", "ring"), ranks=Span(2, 2))
    wanted = cells_to_prove(replace(TABLE, rules=(*TABLE.rules, ours)), BEFORE)
    names = ("openmpi/ring", "timpani/ring", "openmpi/linear", "openmpi/tuned", "timpani/rules", "openmpi/default")
    cells = [Cell("bcast", Algorithm.parse(name), 2, "core", 64, "warm") for name in names]
    assert [str(each.algorithm) for each in cells if wanted(each)] == [name for name in names if "linear" not in name]


def test_rules_of_the_library_and_of_timpani_for_the_same_calls_are_judged_separately() -> None:
    ours = Rule("bcast", Algorithm("timpani", "ring"), ranks=Span(2, 2))
    both = replace(TABLE, rules=(*TABLE.rules, ours))
    names = {"openmpi/default": 10.0, "openmpi/ring": 5.0, "openmpi/tuned": 5.0, "timpani/ring": 20.0}
    times = {cell(name, TEST_SIZE): time for name, time in {**names, "timpani/rules": 20.0}.items()}
    found = confirm(both, BEFORE, replace(BEFORE, results=results_frame(results_of(times, machine="m"))))
    assert [(str(each.file), each.standing) for each in found] == [
        ("openmpi/tuned", "gained"),
        ("timpani/rules", "lost"),
    ]
    assert without_losing_rules(both, losing_points(found)).rules == TABLE.rules
    regrets = [line for line in confirmed_lines(found) if "not used for choosing" in line]
    assert [line.split(" %")[0] for line in regrets] == [
        "At 1 size not used for choosing, the choice of openmpi/tuned takes 0.0",
        "At 1 size not used for choosing, the choice of timpani/rules takes 300.0",
    ]


def test_regret_is_against_the_best_that_was_measured() -> None:
    one = found({"default": 10, "ring": 5, "linear": 4, "tuned": 5})
    assert one.best == "linear"
    assert 0.24 < one.regret.ratio < 0.26
    assert found({"default": 10, "ring": 5, "tuned": 5}).regret.ratio == 0
    regret = mean_regret([one])
    assert regret is not None
    assert regret[1] <= regret[0] <= regret[2]
    assert mean_regret([found({"default": 10, "ring": 5}, size=64)]) is None  # that size chose the rule


def test_where_the_table_has_no_rule_the_default_is_kept() -> None:
    one = found({"default": 10, "ring": 20, "tuned": 10}, size=4096)
    assert (one.standing, one.algorithm, one.gain) == ("kept", None, None)


def test_the_confirmation_has_edges_test_sizes_and_near_ties(tmp_path: Path) -> None:
    before = campaign(
        {(name, size): time for size in (64, 1024) for name, time in (("default", 10), ("ring", 5), ("linear", 5.3))}
    )
    with pytest.raises(UserError, match="no file to switch on"):
        confirmation_study(TABLE, before, tmp_path, None)
    (tmp_path / LIBRARIES["openmpi"].files.tuning[0].name).touch()
    study = confirmation_study(TABLE, before, tmp_path, None)
    assert study.overrides["bcast"].sizes == (63, 64, TEST_SIZE, 1024, 1025)
    assert study.collectives == {"bcast": ("default", "openmpi/linear", "openmpi/ring")}
    assert (study.launches, study.tuned, study.rules) == (10, str(tmp_path.resolve()), None)
    assert study.seed != STUDY["seed"]


@pytest.mark.parametrize("rules_only", [False, True])
def test_a_budget_is_spent_on_the_sizes_of_rules_first(rules_only: bool) -> None:
    names = ("default", "ring", "linear", "tuned", "tuned-ring", "tuned-linear")
    plan = planned([cell(name, size) for size in (63, 64, TEST_SIZE, 1024) for name in names])
    plan = rules_first(plan, TABLE, BEFORE, rules_only)
    assert {point.message_bytes for point in plan.first} == {64, TEST_SIZE, 1024}
    left: dict[int, list[str]] = {}
    for each in plan.cells:
        left.setdefault(each.cell.message_bytes, []).append(each.cell.algorithm.name)
    if rules_only:
        of_rule = ["default", "ring", "tuned", "tuned-ring"]
        assert left == {63: ["default", "tuned"], 64: of_rule, 1024: of_rule}
    else:
        assert left == {size: list(names) for size in (63, 64, TEST_SIZE, 1024)}


def test_ranks_are_placed_as_in_the_campaign_and_in_no_other_combination() -> None:
    measured = cell("ring", 64)
    plan = planned([measured, replace(measured, placement="ppr:1"), replace(measured, ranks=4)])
    assert [each.cell for each in placed_as_measured(plan, BEFORE).cells] == [measured]


def test_rules_for_a_program_are_confirmed_at_the_sizes_of_its_calls(tmp_path: Path) -> None:
    (tmp_path / LIBRARIES["openmpi"].files.tuning[0].name).touch()
    study = confirmation_study(TABLE, of_program(BEFORE), tmp_path, None)
    assert study.overrides["bcast"].sizes == (64, 1024)
