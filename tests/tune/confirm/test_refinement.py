"""Boundaries between measured sizes are measured: halved until they are near, never guessed."""

from pathlib import Path

import pytest

from tests.campaign_files import cell
from tests.installed import needs_slice
from tests.tune.confirm.test_confirmation import STUDY, campaign, of_program
from timpani.campaign.folder.header import Header
from timpani.campaign.folder.header_parts import RecordedMpi
from timpani.campaign.folder.launch_result import LaunchResult
from timpani.campaign.folder.store import Store
from timpani.errors import UserError
from timpani.machine.describe import MachineDescription
from timpani.study.selection import SizeGap
from timpani.tune.confirmation_study import refining_study
from timpani.tune.from_campaign import load_together

MEASURED = campaign({(name, size): 10 for name in ("default", "ring") for size in (64, 1024)})


def between(before: int, after: int) -> tuple[int, ...] | None:
    study = refining_study([SizeGap("bcast", 2, 1, before, after)], MEASURED)
    return study.overrides["bcast"].sizes if study else None


@pytest.mark.parametrize(
    ("before", "after", "sizes"), [(64, 1024, (256,)), (0, 64, (8,)), (4, 8, (6,)), (1, 2, None), (100, 120, None)]
)
def test_a_gap_is_halved_until_its_sizes_are_near(before: int, after: int, sizes: tuple[int, ...] | None) -> None:
    assert between(before, after) == sizes


def stored(
    folder: Path, sizes: tuple[int, ...], version: str = "5", sampled: tuple[int, ...] = (), regret: float | None = None
) -> Path:
    header = Header.new(
        study={**STUDY, "regret": regret},
        machine=MachineDescription(name="here"),
        mpi=RecordedMpi(kind="openmpi", version=version),
        command="",
        left_out=[],
    )
    with Store(folder, header) as store:
        for size in (*sizes, *sampled):
            seen = None if regret is None else size in sampled
            result = LaunchResult(cell("default", size), 1, "here", median_us=1.0, repetitions=100, sampled=seen)
            store.add_result(result)
    return folder


def test_campaigns_are_read_as_one(tmp_path: Path) -> None:
    folders = [stored(tmp_path / "one", (8, 64)), stored(tmp_path / "two", (16,))]
    assert sorted(load_together(folders).results["message_bytes"]) == [8, 16, 64]


def test_campaigns_of_two_libraries_or_of_the_same_cells_are_refused(tmp_path: Path) -> None:
    one = stored(tmp_path / "one", (8, 64))
    with pytest.raises(UserError, match="measured bcast at 64 B"):
        load_together([one, stored(tmp_path / "two", (64,))])
    with pytest.raises(UserError, match=r"Open MPI 4, and .* with Open MPI 5"):
        load_together([one, stored(tmp_path / "three", (16,), "4")])


@needs_slice("race")
def test_sampled_results_stay_unless_another_campaign_measured_them(tmp_path: Path) -> None:
    race = stored(tmp_path / "race", (8, 64), sampled=(16, 32), regret=0.02)
    results = load_together([race, stored(tmp_path / "between", (16,))]).results
    assert dict(results.select("message_bytes", "sampled").sort("message_bytes").iter_rows()) == {
        8: False,
        16: None,
        32: True,
        64: False,
    }


def test_no_sizes_between_are_measured_for_a_program() -> None:
    assert refining_study([SizeGap("bcast", 2, 1, 64, 1024)], of_program(MEASURED)) is None
