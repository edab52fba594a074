"""From a profile to the study that measures it, and what that is expected to save."""

from pathlib import Path
from typing import Any

import pytest

from tests.campaign_files import cell, machine, made_up, results_of
from tests.programs.profile_files import CALL, part_text, write_profile
from timpani.campaign.folder.load import Campaign
from timpani.errors import UserError
from timpani.judge.raced import raced_results
from timpani.programs.pages.profile_document import savings_document, savings_sentence
from timpani.programs.profile.profile_folder import read_profile
from timpani.programs.profile.profile_lines import ProfilePart
from timpani.programs.profile.profiled_points import profiled_points
from timpani.programs.profile.profiled_study import MEASURED_SHARE, profiled_study
from timpani.programs.profile.savings import expected_savings
from timpani.study.cell import TOGETHER
from timpani.study.keys import ROTATING
from timpani.study.operations import CallArguments

SECOND = 1_000_000_000
SMALL = {**CALL, "name": "bcast", "operator": "", "size_class": 4, "bytes": 200 * 8, "calls": 200}


def part_of(folder: Path, *calls: dict[str, Any]) -> ProfilePart:
    return read_profile(write_profile(folder, part_text(calls))).main_part


def test_the_study_has_the_program_s_collectives_ranks_sizes_and_datatypes(tmp_path: Path) -> None:
    part = part_of(tmp_path / "p", dict(CALL), SMALL)
    study = profiled_study(part, {"launches": 4, "algorithms": None}).study
    assert study.collectives == {"allreduce": ("all",), "bcast": ("all",)}
    assert (study.ranks, study.placement, study.launches) == ((2,), ("core",), 4)
    assert (study.sizes_of("allreduce"), study.datatype_of("allreduce")) == ((1024,), "double")
    assert (study.sizes_of("bcast"), study.datatype_of("bcast")) == ((8,), "uint8")


def test_cheap_and_unmeasurable_calls_are_left_out_and_named(tmp_path: Path) -> None:
    rare = {**SMALL, "ns": int(3 * SECOND * (1 - MEASURED_SHARE) / 2), "waiting_ns": 0.0}
    found = profiled_study(
        part_of(
            tmp_path / "p",
            {**CALL, "operator": "max"},
            rare,
            {**CALL, "name": "alltoallw", "operator": "", "ns": SECOND},
            {**CALL, "between_groups": True, "ns": SECOND},
        ),
        {},
    )
    assert list(found.study.collectives) == ["allreduce"]
    left_out = " | ".join(found.left_out)
    for word in ("not among the collectives", "between two groups", "100 calls"):
        assert word in left_out
    assert found.study.arguments_of("allreduce").operator == "max"


def test_calls_of_several_sizes_are_measured_at_the_smallest_and_the_largest(tmp_path: Path) -> None:
    """A rule between two measured sizes covers all calls; one at the mean would cover none of these."""
    sizes = {"size_class": 17, "bytes": 200 * 70_000, "smallest_bytes": 66_000, "largest_bytes": 86_000}
    part = part_of(tmp_path / "p", {**CALL, "name": "bcast", "operator": "", **sizes})
    low, high = profiled_points(part)
    assert (low.message_bytes, high.message_bytes) == (66_000, 86_000)
    assert [low.calls, high.calls] == pytest.approx([80, 20])
    assert (low.seconds + high.seconds) == pytest.approx(1.5)
    study = profiled_study(part, {}).study
    assert study.sizes_of("bcast") == (66_000, 86_000)


def test_sizes_are_whole_elements(tmp_path: Path) -> None:
    sizes = {"size_class": 5, "bytes": 200 * 20, "smallest_bytes": 17, "largest_bytes": 23}
    [point] = profiled_points(part_of(tmp_path / "p", {**CALL, **sizes}))
    assert (point.message_bytes, point.calls) == (16, 100)


@pytest.mark.parametrize(
    ("rows", "root"),
    [
        ([{"root": 1, "root_calls": 100, "rooted_calls": 100}], 1),
        ([{"root": 1, "root_calls": 50, "rooted_calls": 100}], "rotating"),
        # In place at the root only, so that its calls are another row than the others'.
        ([{"root": 1, "root_calls": 100, "rooted_calls": 100, "in_place": True}, {}], 1),
        ([{}], 0),
    ],
)
def test_the_root_is_the_program_s(tmp_path: Path, rows: list[dict[str, Any]], root: int | str) -> None:
    part = part_of(tmp_path / "p", *({**CALL, "name": "reduce", **row} for row in rows))
    arguments = profiled_study(part, {}).study.arguments_of("reduce")
    assert (arguments.root, arguments.in_place) == (root, "in_place" in rows[0])


def test_a_rotating_root_visits_all_ranks_in_some_launches() -> None:
    rotating = CallArguments(root=ROTATING)
    assert {rotating.root_in(launch, 8) for launch in range(1, 14)} == set(range(8))
    assert {CallArguments(root=3).root_in(launch, 8) for launch in range(1, 14)} == {3}


def test_calls_in_place_are_measured_in_place(tmp_path: Path) -> None:
    two_buffers = {**CALL, "calls": 20, "bytes": 20 * 1024}
    found = profiled_study(part_of(tmp_path / "p", {**CALL, "in_place": True}, two_buffers), {})
    assert found.study.arguments_of("allreduce").in_place
    assert "allreduce with two buffers, 9.09 % of its calls: measured with MPI_IN_PLACE" in found.left_out


def test_an_operator_that_mpi_does_not_define_for_the_measured_type_is_replaced(tmp_path: Path) -> None:
    whole = {**CALL, "operator": "bor", "datatype": "int32"}
    assert profiled_study(part_of(tmp_path / "i", whole), {}).study.arguments_of("allreduce").operator == "bor"
    long = profiled_study(part_of(tmp_path / "l", {**whole, "datatype": "int64"}), {})
    assert long.study.arguments_of("allreduce") == CallArguments("double")
    assert "allreduce with operator bor, 100 % of its calls: measured with sum" in long.left_out
    assert "allreduce of int64, 100 % of its calls: measured with double" in long.left_out


def measured(times: dict[str, float], placement: str = "core", nodes: int = 1, **study: Any) -> Campaign:
    """Ten launches in which allreduce of 1 KiB on 2 ranks takes these microseconds."""
    arrival = study.get("arrival", TOGETHER)
    about: dict[str, Any] = {"collective": "allreduce", "placement": placement, "arrival": arrival}
    results = results_of(
        {cell(name, 1024, **about): [time + n / 1e4 for n in range(1, 11)] for name, time in times.items()}, machine="m"
    )
    return made_up(results, machine=machine(nodes, cores=2), study={"datatype": "double", **study})


def test_the_time_that_is_not_waiting_shrinks_by_the_measured_ratio(tmp_path: Path) -> None:
    """2 s of a rank are spent in the calls, 0.5 s of it waiting; an algorithm is 1.5 times as fast."""
    folder = write_profile(tmp_path / "p", part_text((CALL, SMALL)))
    profile = read_profile(folder)
    savings = expected_savings(profile, [measured({"default": 30.0, "ring": 20.0})])
    assert savings.saved == pytest.approx(1.5 - 1.5 / 1.5, rel=0.01)
    low, high = savings.bounds
    assert low <= savings.saved <= high
    assert savings.covered_seconds == pytest.approx(1.5)
    document = savings_document(profile, savings)
    answer = document["answer"].text
    assert "app spends 40 % of 10 s in blocking collectives; better algorithms are expected to save 500 ms" in answer
    assert "waiting for late ranks takes 1 s" in answer
    assert "not measured: 1 point" in document["not_measured"].text
    assert document["measure"].command.startswith(f"timpani run --for {folder}")


def test_an_algorithm_that_is_not_significantly_faster_saves_nothing(tmp_path: Path) -> None:
    profile = read_profile(write_profile(tmp_path / "p", part_text()))
    savings = expected_savings(profile, [measured({"default": 20.0, "ring": 30.0})])
    assert (savings.saved, savings.bounds) == (0.0, (0.0, 0.0))
    assert "no measured algorithm is significantly faster" in savings_sentence(profile, savings)


def test_a_race_for_a_program_measures_what_is_worth_it_and_weighs_it(tmp_path: Path) -> None:
    """The broadcasts take 30 s of 42 s in MPI, the reductions 0.75 s, and the gathers 3 ms."""
    dear = {**SMALL, "ns": 60 * SECOND, "waiting_ns": 0.0}
    rare = {**SMALL, "name": "gather", "calls": 2, "bytes": 16, "ns": 6_000_000, "waiting_ns": 0.0}
    message = {**CALL, "name": "send", "form": "message", "operator": "", "ns": 20 * SECOND}
    part = part_of(tmp_path / "p", dict(CALL), dear, rare, message)
    found = profiled_study(part, {"regret": "1%"})
    assert {each.collective: each.share for each in found.study.weights} == pytest.approx(
        {"bcast": 30 / 42.003, "allreduce": 1.5 / 42.003, "gather": 0.003 / 42.003}
    )
    goals = {name: goal.regret for (name, *_), goal in found.study.goals.items()}
    assert goals.keys() == found.study.collectives.keys() == {"bcast", "allreduce"}
    assert goals["bcast"] < goals["allreduce"]
    assert any("1 call with 0.003 s together" in text for text in found.left_out)
    assert not profiled_study(part, {"regret": "1%", "sizes": "8"}).study.weights
    [first, second] = profiled_study(part, {}).study.weights  # the gathers are under 1 % of the time
    assert {first.collective, second.collective} == {"bcast", "allreduce"}


def test_a_program_whose_collectives_take_less_than_is_accepted_needs_no_race(tmp_path: Path) -> None:
    message = {**CALL, "name": "send", "form": "message", "operator": "", "ns": 400 * SECOND}
    with pytest.raises(UserError, match="no algorithm can gain more than the accepted 1 %"):
        profiled_study(part_of(tmp_path / "p", dict(CALL), message), {"regret": "1%"})


def test_the_bound_on_the_loss_is_in_seconds_of_the_program(tmp_path: Path) -> None:
    """Without a race nothing bounds it; of a point without a measurement all of its time may be lost."""
    profile = read_profile(write_profile(tmp_path / "p", part_text((CALL, SMALL))))
    times = {"default": 30.0, "ring": 20.0}
    unraced = expected_savings(profile, [measured(times)])
    assert "at_most" not in savings_document(profile, unraced)
    campaign = measured(times, regret=0.01)
    savings = expected_savings(profile, [campaign])
    race = raced_results(campaign).race
    assert race is not None
    [regret] = race.regrets.values()
    assert savings.lost == pytest.approx(1.5 * regret / (1 + regret) + 1.5)
    assert "other algorithms could save at most" in savings_document(profile, savings)["at_most"].text
    same = savings_document(
        profile, expected_savings(profile, [measured({"default": 30.0, "ring": 30.0}, regret=0.01)])
    )
    assert same["at_most"].text.startswith("undecided: other algorithms could save at most"), "a call is unmeasured"
    named = [cell.text for cell in same["points"].column("faster algorithm")]
    assert sorted(named) == ["none significant", "not measured"]
    assert "timpani tune --for" in same["longer"].command


TIMES = {"default": 30.0, "ring": 20.0}


def test_a_measurement_on_other_nodes_covers_nothing_and_is_named(tmp_path: Path) -> None:
    profile = read_profile(write_profile(tmp_path / "p", part_text(({**CALL, "nodes": 2, "per_node": 1},))))
    elsewhere = expected_savings(profile, [measured(TIMES)])
    assert (elsewhere.saved, elsewhere.covered) == (0, ())
    (difference,) = elsewhere.points[0].differences
    there, here = "on 1 node with at most 2 ranks each", "on 2 nodes with at most 1 rank each"
    assert difference == f"measured {there}; the program runs {here}"
    covered = expected_savings(profile, [measured(TIMES), measured(TIMES, placement="ppr:1", nodes=2)])
    assert covered.saved > 0
    assert covered.points[0].differences == ()


@pytest.mark.parametrize(
    ("study", "differences"),
    [
        ({}, ()),
        ({"datatype": "float"}, ("float, not double",)),
        ({"operator": "max", "in_place": True}, ("max, not sum", "MPI_IN_PLACE, not two buffers")),
        ({"overrides": {"allreduce": {"operator": "max"}}}, ("max, not sum",)),
        ({"root": 1}, ()),
        ({"arrival": "sorted:1ms"}, ("ranks enter sorted:1ms",)),
    ],
)
def test_other_arguments_are_named_next_to_the_figure(
    tmp_path: Path, study: dict[str, Any], differences: tuple[str, ...]
) -> None:
    profile = read_profile(write_profile(tmp_path / "p", part_text()))
    savings = expected_savings(profile, [measured(TIMES, **study)])
    assert savings.saved > 0
    assert savings.points[0].differences == differences
    [shown] = savings_document(profile, savings)["points"].column("differences")
    assert shown.text == "; ".join(differences)


def test_the_campaign_whose_arguments_differ_least_counts(tmp_path: Path) -> None:
    profile = read_profile(write_profile(tmp_path / "p", part_text()))
    other = measured({"default": 60.0, "ring": 20.0}, operator="max")
    both = expected_savings(profile, [other, measured(TIMES)])
    assert both.points == expected_savings(profile, [measured(TIMES)]).points


def test_points_that_campaigns_cover_are_not_measured_again(tmp_path: Path) -> None:
    """The printed command measures the broadcast alone."""
    profile = read_profile(write_profile(tmp_path / "p", part_text((CALL, SMALL))))
    savings = expected_savings(profile, [measured(TIMES)])
    command = savings_document(profile, savings)["measure"].command
    assert command == f"timpani run --for {profile.folder} --covered-by made -o rest"
    covered = [each.point for each in savings.covered]
    assert list(profiled_study(profile.main_part, {}, covered).study.collectives) == ["bcast"]
    with pytest.raises(UserError, match="cover all calls"):
        profiled_study(profile.main_part, {}, profiled_points(profile.main_part))


LAYOUTS = (
    {**CALL, "ranks": 8, "nodes": 4, "per_node": 2},
    {**CALL, "ranks": 4, "nodes": 4, "per_node": 1, "ns": 3 * SECOND},
    {**SMALL, "ranks": 2, "nodes": 1, "per_node": 2, "ns": 3 * SECOND},
)


def test_each_call_is_measured_on_as_many_nodes_as_the_program_has(tmp_path: Path) -> None:
    found = profiled_study(part_of(tmp_path / "p", *LAYOUTS), {})
    assert set(found.study.placement) == {"core", "ppr:1", "ppr:2"}
    assert found.study.wanted_points == {
        ("allreduce", 8, "ppr:2", 1024),
        ("allreduce", 4, "ppr:1", 1024),
        ("bcast", 2, "core", 8),
    }
    assert found.study.placements_of(4) == ("ppr:1",)
    assert not found.left_out
