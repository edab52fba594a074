"""Commands that read a raced campaign build its race once: that takes most of their time."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.campaign_files import MPI, cell, results_of, write_campaign
from tests.cli.typed import typed
from tests.installed import OPEN_MPIS, needs_open_mpi
from timpani.campaign.folder.launch_result import LaunchResult
from timpani.race.race import Race


@pytest.fixture(scope="module")
def raced(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight launches at two sizes, in which the linear one was dropped after three, and three at a size between."""
    random = np.random.default_rng(1)
    times = {"default": 2.0, "linear": 3.0, "timpani/chain": 1.0}

    def measured(sizes: tuple[int, ...], launches: int, sampled: bool = False) -> list[LaunchResult]:
        each = {
            cell(name, size): (time * random.lognormal(0, 0.005, 3 if name == "linear" else launches)).tolist()
            for size in sizes
            for name, time in times.items()
        }
        return results_of(each, interleaved=True, sampled=sampled)

    library = {"version": OPEN_MPIS[0].version, "mpirun": str(OPEN_MPIS[0].mpirun)} if OPEN_MPIS else {}
    results = measured((8, 64), 8) + measured((16,), 3, sampled=True)
    study = {"collectives": {"bcast": ["default", "linear", "timpani/chain"]}, "regret": 0.02}
    return write_campaign(tmp_path_factory.mktemp("raced") / "c", results, study=study, mpi=MPI | library)


@pytest.mark.parametrize(
    "words",
    [
        ("verdict", "CAMPAIGN"),
        ("verdict", "CAMPAIGN", "--format", "json"),
        ("show", "CAMPAIGN"),
        pytest.param(("tune", "CAMPAIGN", "-o", "OUTPUT"), marks=needs_open_mpi),
    ],
)
def test_a_command_builds_the_race_of_its_campaign_once(
    words: tuple[str, ...], raced: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build, add_launch = Race.__init__, Race.add_launch
    built: list[Race] = []
    added: list[int] = []

    def counted_build(race: Race, *arguments: Any) -> None:
        built.append(race)
        build(race, *arguments)

    def counted_launch(race: Race, number: int, *arguments: Any) -> None:
        added.append(number)
        add_launch(race, number, *arguments)

    monkeypatch.setattr(Race, "__init__", counted_build)
    monkeypatch.setattr(Race, "add_launch", counted_launch)
    places = {"CAMPAIGN": raced, "OUTPUT": tmp_path / "output"}
    done = typed(*(places.get(word, word) for word in words))
    assert done.returncode == 0, done.stderr
    assert len(built) == 1
    assert added == [*range(1, 9)]  # and nobody adds to it later
