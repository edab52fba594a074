"""Planning on a made-up library; nothing is started."""

from pathlib import Path
from typing import Any

import pytest

from tests.campaign.plan.made_library import LIBRARY, MPI
from tests.installed import needs_slice
from timpani.campaign.plan.chosen_algorithms import ChosenAlgorithm, share_launches
from timpani.campaign.plan.estimate import simulated_cell_seconds, start_seconds
from timpani.campaign.plan.from_study import Resources, cells_of, check_cores, plan
from timpani.campaign.plan.plan import CampaignPlan, plan_notes
from timpani.campaign.plan.plan_text import plan_text
from timpani.errors import UserError
from timpani.libraries.library import AlgorithmSelection
from timpani.libraries.openmpi.algorithms import shared_start
from timpani.machine.detect import this_computer
from timpani.native.mpi import Mpi
from timpani.study.cell import Algorithm, Cell
from timpani.study.study import Study


def planned(cores: int = 4, **values: Any) -> CampaignPlan:
    study = Study.check({"collectives": {"bcast": "all"}, "ranks": [2], "sizes": [8, 1024], **values}, "test")
    return plan(study, LIBRARY, Resources(this_computer(MPI), lambda _: cores, lambda ranks: [(0, 1)]))


def skipped_texts(plan: CampaignPlan) -> tuple[str, ...]:
    """What is left out, in words."""
    return tuple(map(str, plan.skipped))


def names(plan: CampaignPlan) -> set[str]:
    return {str(cell.cell.algorithm) for cell in plan.cells}


def test_the_default_shares_launches_with_all_that_is_compared_with_it() -> None:
    groups = planned(ranks=[2, 3]).groups
    assert [group.ranks for group in groups] == [2, 3]
    for cell in (cell for group in groups for cell in group.cells):
        assert cell.cell.algorithm.is_default == ((cell.at_creation, cell.at_call) == ((), ()))


def test_the_default_has_separate_launches_if_settings_may_change_it() -> None:
    mpi = Mpi("openmpi", "Open MPI", "5.0.99", Path("mpirun"), Path("mpicxx"), None)
    chosen = [
        ChosenAlgorithm("bcast", Algorithm("openmpi", "default"), None, AlgorithmSelection()),
        ChosenAlgorithm(
            "bcast", Algorithm("openmpi", "linear"), None, AlgorithmSelection((("coll", "^han"),), {}, (("a", 1),))
        ),
    ]
    assert share_launches(chosen, shared_start(mpi, several_nodes=False)) == chosen


def test_too_few_launches_for_a_comparison_are_reported_before_measuring() -> None:
    few = planned(collectives={"bcast": "all"}, launches=5)
    needed = few.launches_needed
    assert f"fewer than the {needed} launches that a comparison in one job takes: --launches {needed} or more" in list(
        plan_notes(few)
    )
    trees = [f"timpani/knomial:radix={radix}" for radix in range(2, 26)]
    many = planned(collectives={"bcast": ["default", *trees], "latency": "default"}, launches=6)
    assert many.launches_needed == 10
    enough = planned(collectives={"bcast": "all"}, launches=needed)
    assert not [note for note in plan_notes(enough) if "launches" in note]


def test_every_cell_is_planned_once() -> None:
    plan = planned(collectives={"bcast": ["all", "default", "binomial"], "barrier": "default"}, ranks=[3, 2, 2])
    cells = [each.cell for each in plan.cells]
    assert len(cells) == len(set(cells))
    assert [each.number for each in plan.cells] == list(range(len(cells)))
    assert {cell.message_bytes for cell in cells if cell.collective == "barrier"} == {0}
    assert {cell.ranks for cell in cells} == {2, 3}


def test_the_order_is_shuffled_in_each_launch_and_repeats_with_the_seed() -> None:
    def order(seed: int, launch: int) -> list[int]:
        return [cell.number for group in planned(seed=seed).order(launch) for cell in group.cells]

    first = order(1, 1)
    assert first == order(1, 1)
    assert sorted(first) == list(range(len(first)))
    assert first != order(1, 2)
    assert first != order(2, 1)
    assert first != sorted(first)


@pytest.mark.parametrize(
    ("collective", "algorithm", "said"),
    [
        ("bcast", "openmp/binomial", "'openmp'; did you mean openmpi"),
        ("bcast", "binomial:fanuot=4", "binomial"),
        ("bcast", "default:segment_bytes=8", "has no parameters"),
        ("barrier", "$(touch x)", "is not an algorithm"),
    ],
)
def test_an_unknown_algorithm_is_an_error(collective: str, algorithm: str, said: str) -> None:
    with pytest.raises(UserError) as caught:
        planned(collectives={collective: [algorithm]})
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_parameters_are_held_while_the_communicator_is_created() -> None:
    [cell] = planned(collectives={"bcast": ["chain:chain_fanout=2,segment_bytes=1024"]}, sizes=[8]).cells
    controls = dict(cell.at_creation)
    assert controls["coll_tuned_bcast_algorithm_chain_fanout"] == 2
    assert controls["coll_tuned_bcast_algorithm_segmentsize"] == 1024
    with pytest.raises(UserError, match="out of range"):
        planned(collectives={"bcast": ["chain:segment_bytes=-1"]})


def test_more_ranks_than_cores_are_an_error() -> None:
    study = Study.check({"collectives": {"bcast": "all"}, "ranks": [2, 3, 8], "sizes": [8]}, "test")
    with pytest.raises(UserError) as caught:
        check_cores(study, lambda _: 2)
    assert "3, 8 ranks are more than the 2 cores" in caught.value.what
    assert "--ranks 2)" in caught.value.next_step
    with pytest.raises(UserError, match=r"measure fewer \(--ranks 1\)"):
        check_cores(study, lambda _: 1)
    check_cores(study, lambda _: 8)


def test_each_count_of_a_program_s_ranks_needs_the_cores_of_its_placement() -> None:
    """Eight ranks fill two nodes, and a leader of each makes two."""
    weights = [
        {"collective": "bcast", "ranks": ranks, "placement": placement, "message_bytes": 8, "share": 0.5}
        for ranks, placement in ((8, "ppr:4"), (2, "ppr:1"))
    ]
    values = {"collectives": {"bcast": "all"}, "ranks": [2, 8], "sizes": [8], "placement": ["ppr:4", "ppr:1"]}
    cores = {"ppr:4": 8, "ppr:1": 2}
    check_cores(Study.check({**values, "weights": weights}, "test"), cores.__getitem__)
    with pytest.raises(UserError, match="8 ranks are more than the 2 cores"):
        check_cores(Study.check(values, "test"), cores.__getitem__)


def test_a_program_s_points_are_measured_and_no_other_combination() -> None:
    called = {("bcast", 2, "core", 8), ("bcast", 2, "core", 64), ("bcast", 4, "ppr:1", 64)}
    weights = [
        {"collective": name, "ranks": ranks, "placement": placement, "message_bytes": size, "share": 0.1}
        for name, ranks, placement, size in called
    ]
    values = {"collectives": {"bcast": "all"}, "ranks": [2, 4], "sizes": [8, 64], "placement": ["core", "ppr:1"]}
    study = Study.check({**values, "weights": weights}, "test")
    cells = [
        each
        for ranks in study.ranks
        for each in cells_of(study, "bcast", Algorithm("openmpi", "default"), None, ranks, lambda _: [])
        if isinstance(each, Cell)
    ]
    assert {(each.collective, each.ranks, each.placement, each.message_bytes) for each in cells} == called


def test_ranks_share_cores_where_there_are_more() -> None:
    plan = planned(cores=2, ranks=[2, 3])
    assert {group.ranks: group.oversubscribed for group in plan.groups} == {2: False, 3: True}
    for group in plan.groups:
        timed, untimed = (plan_text(plan, group, list(group.cells), 1.0, how) for how in (None, "read_order"))
        assert "share_cores" not in timed
        assert ("share_cores" in untimed) == group.oversubscribed


def test_the_estimate_is_the_budget_where_that_is_less() -> None:
    assert planned(budget="20s", launches=1000).seconds == 20.0
    assert planned(launches=20).seconds == pytest.approx(2 * planned(launches=10).seconds)


@needs_slice("race")
def test_a_race_takes_from_the_fewest_launches_of_what_it_begins_with_to_everything_for_whole_slots() -> None:
    def race(**study: Any) -> CampaignPlan:
        asked: dict[str, Any] = {"collectives": {"bcast": ["default", "binomial"]}, "regret": 0.02, "launches": 6}
        return planned(**(asked | study))

    assert race().least_seconds < race(sizes="8:4096").least_seconds < race(sizes="8:4096").most_seconds
    assert race(sizes="8,16,64").least_seconds == race(sizes="8,64").least_seconds, "16 B come later"
    alone = race(collectives={"bcast": ["default"]})
    assert alone.least_seconds == alone.launch_seconds, "nothing competes: one launch"
    assert race(slot="1s", sizes="8,64").most_seconds > 6 * 4 * 2.0
    assert race(budget="1min", launches=1000).most_seconds == 60.0
    # A point is over after 64 launches: of more there are starts alone.
    of_starts = race(launches=1000).most_seconds - race(launches=64).most_seconds
    assert of_starts == pytest.approx(936 * sum(start_seconds(MPI.kind, group.ranks) for group in race().groups))


def test_timpanis_algorithms_are_interleaved_with_the_default_and_the_librarys() -> None:
    collectives = {"bcast": ["default", "timpani/knomial:radix=3", "binomial"]}
    [group] = planned(collectives=collectives).groups
    expected = {"default", "timpani/knomial:radix=3", "binomial"}
    assert [{cell.cell.algorithm.label for cell in point} for point in group.points] == [expected] * len(group.points)


def test_operations_of_one_datatype_share_launches() -> None:
    made = planned(
        collectives={"latency": "all", "reduce_local": "default", "transpose": ["packed", "plain_message"]},
        overrides={"transpose": {"sizes": "64:256", "datatype": "double"}},
    )
    by_datatype = {group.arguments.datatype: {cell.cell.collective for cell in group.cells} for group in made.groups}
    assert by_datatype == {"uint8": {"latency", "reduce_local"}, "double": {"transpose"}}
    assert {cell.cell.message_bytes for cell in made.cells if cell.cell.collective == "transpose"} == {64, 128, 256}
    assert names(made) == {
        "openmpi/default:first=0,second=1",
        "openmpi/default",
        "timpani/packed",
        "timpani/plain_message",
    }
    assert all((group.parameters, dict(group.environment)) == ((), {}) for group in made.groups)


def test_impossible_rank_counts_and_sizes_are_left_out_with_a_reason() -> None:
    made = planned(
        collectives={
            "latency": ["default", "default:first=0,second=2"],
            "transpose": ["packed", "alltoall", "packed:rows=3"],
        },
        ranks=[1, 3],
        sizes=[9, 16, 64],
    )
    assert skipped_texts(made) == (
        "latency openmpi/default on 1 rank: only for 2 ranks or more",
        "latency openmpi/default:first=0,second=2 on 1 rank: only for 2 ranks or more",
        "transpose timpani/packed on 1 rank: only for 2 ranks or more",
        "transpose timpani/alltoall on 3 ranks, 2 sizes from 16 B to 64 B: "
        "the numbers of rows and columns must be multiples of the number of ranks",
        "transpose timpani/packed:rows=3 on 1 rank: only for 2 ranks or more",
        "transpose timpani/packed:rows=3 on 3 ranks, 2 sizes from 16 B to 64 B: "
        "the elements can't be divided into 3 rows",
    )


def test_a_budget_that_no_launch_fits_into_is_refused() -> None:
    with pytest.raises(UserError, match=r"a budget of 0\.1 s is less than a launch takes: 1 start, about \d+ s"):
        planned(budget="100ms")


@pytest.mark.parametrize(
    ("name", "ranks", "measured_s"),
    [("scatters", 64, 3.0), ("default", 128, 29.8), ("pairwise", 64, 0.3), ("pairwise", 128, 2.1)],
)
def test_the_estimate_for_alltoallv_is_within_a_factor_of_two(name: str, ranks: int, measured_s: float) -> None:
    cell = Cell("alltoallv", Algorithm("timpani", name), ranks, "core", 1024, "warm")
    assert 0.5 < simulated_cell_seconds(cell) / measured_s < 2
