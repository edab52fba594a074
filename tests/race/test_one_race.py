"""Commands that read a raced campaign build its race once: that takes most of their time."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cli.typed import typed
from tests.installed import OPEN_MPIS, needs_open_mpi
from timpani.campaign.folder.header import Header
from timpani.campaign.folder.header_parts import RecordedMpi
from timpani.campaign.folder.launch_result import LaunchResult
from timpani.campaign.folder.store import Store
from timpani.machine.describe import MachineDescription
from timpani.race.race import Race
from timpani.study.cell import Algorithm, Cell
from timpani.study.study import Study

TIMES = {"openmpi/default": 2.0, "openmpi/linear": 3.0, "timpani/chain": 1.0}
RACED, SAMPLED = (8, 64), 16


@pytest.fixture(scope="module")
def raced(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight launches at two sizes, in which the linear one was dropped after three, and three at a size between."""
    library = OPEN_MPIS[0] if OPEN_MPIS else None
    study = Study.check(
        {"collectives": {"bcast": tuple(TIMES)}, "ranks": 2, "sizes": [8, 16, 64], "launches": 8, "regret": 0.02},
        "test",
    )
    header = Header.new(
        study=study.model_dump(mode="json"),
        machine=MachineDescription(name="here"),
        mpi=RecordedMpi(
            kind="openmpi",
            version=library.version if library else "4.1.4",
            mpirun=str(library.mpirun if library else "mpirun"),
        ),
        command="",
        left_out=[],
    )
    folder = tmp_path_factory.mktemp("raced") / "c"
    random = np.random.default_rng(1)
    rows = [
        (size, launch, name)
        for launch in range(1, 9)
        for size in (*RACED, SAMPLED)
        for name in TIMES
        if (launch >= 6 if size == SAMPLED else launch <= 3 or "linear" not in name)
    ]
    with Store(folder, header) as store:
        for size, launch, name in rows:
            cell = Cell("bcast", Algorithm.parse(name), 2, "core", size, "warm")
            time = TIMES[name] * float(random.lognormal(0, 0.005))
            store.add_result(
                LaunchResult(
                    cell,
                    launch,
                    "here",
                    median_us=time,
                    repetitions=30,
                    interleaving=f"{launch:04d}-1/{size}",
                    relative=time,
                    sampled=size == SAMPLED,
                )
            )
    return folder


@pytest.mark.parametrize(
    "words",
    [
        ("verdict", "CAMPAIGN"),
        ("verdict", "CAMPAIGN", "--format", "json"),
        ("show", "CAMPAIGN"),
        ("report", "CAMPAIGN", "-o", "OUTPUT"),
        ("rules", "CAMPAIGN", "-o", "OUTPUT"),
        pytest.param(("tune", "CAMPAIGN", "-o", "OUTPUT"), marks=needs_open_mpi),
    ],
    ids=["verdict", "verdict as JSON", "show", "report", "rules", "tune"],
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
