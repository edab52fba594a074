"""`timpani tune … --predict-to`: rules beyond the measured rank counts, on a campaign whose times are what known costs
say, in which the default sends as the linear schedule does."""

import json
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from tests.cli.test_tune import header_of
from tests.cli.typed import typed
from tests.installed import OPEN_MPIS, needs_open_mpi
from timpani.campaign.folder.launch_result import LaunchResult, Proof
from timpani.campaign.folder.store import Store
from timpani.native.build import build_without_mpi
from timpani.native.mpi import Mpi
from timpani.schedules.algorithms.fingerprint import matrices
from timpani.schedules.algorithms.simulation import CostLine, Costs, SimulatedCall, Simulator
from timpani.study.cell import OWN, Algorithm, Cell
from timpani.study.study import Study
from timpani.tune.table_file import read_table, table_text

pytestmark = needs_open_mpi

COSTS = Costs(copied=0.0004, rest=0.5, messages=((CostLine(0, 0.3, 0.0005, 1.0),),))
NOISE = (0.99, 0.995, 1.0, 1.005, 1.01, 0.992, 1.008, 1.002)
TIMPANI_ALGORITHMS = ("linear", "binomial", "pipeline", "scatter_allgather")
RANKS, SIZES = (4, 8, 20), (8, 1024, 65536)  # on more ranks than any radix, all trees differ
LARGER = (
    'name = "larger"\nlauncher = "openmpi"\n\n[[groups]]\nname = "all"\nnodes = "node1"\ncores = 128\nsockets = 2\n'
)


def made_up(
    folder: Path,
    proved_at: tuple[int, ...] = RANKS,
    ours: tuple[str, ...] = TIMPANI_ALGORITHMS,
    simulated: bool = False,
    ranks: tuple[int, ...] = RANKS,
    mpi: Mpi | None = None,
) -> Path:
    """Broadcasts by Timpani's algorithms, by a default that is `linear`, and by the library's `binomial`."""
    mpi = mpi or OPEN_MPIS[0]
    schedules = {Algorithm(OWN, name): name for name in ours}
    schedules |= {Algorithm(mpi.kind, "default"): "linear", Algorithm(mpi.kind, "binomial"): "binomial"}
    study = Study.check(
        {
            "collectives": {"bcast": tuple(map(str, schedules))},
            "ranks": list(ranks),
            "sizes": list(SIZES),
            "launches": len(NOISE),
        },
        "test",
    )
    points = list(product(schedules.items(), ranks, SIZES))
    calls = [SimulatedCall("bcast", Algorithm(OWN, schedule), count, size) for (_, schedule), count, size in points]
    simulator = Simulator(build_without_mpi(mpi))
    with Store(folder, header_of(study, mpi)) as store:
        for ((algorithm, _), count, size), time in zip(points, simulator.times(calls, COSTS), strict=True):
            cell = Cell("bcast", algorithm, count, "core", size, "warm")
            assert isinstance(time, float)
            for launch, noise in enumerate(NOISE, 1):
                store.add_result(LaunchResult(cell, launch, "here", median_us=time * noise, simulated=simulated))
        for ((algorithm, _), count, size), events in zip(points, simulator.events(calls), strict=True):
            if count in proved_at and algorithm.provider != OWN:
                messages, sent = (matrix.tolist() for matrix in matrices(events, count))
                cell = Cell("bcast", algorithm, count, "core", size, "warm")
                store.add_proof(Proof(cell, messages, sent))
    return folder


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_up(tmp_path_factory.mktemp("with costs") / "a campaign")


@pytest.fixture(scope="module")
def larger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("machine") / "larger.toml"
    file.write_text(LARGER)
    return file


def test_rules_for_more_ranks_are_marked_and_in_no_file(campaign: Path, larger: Path, tmp_path: Path) -> None:
    assert typed("tune", campaign, "-o", tmp_path / "measured").returncode == 0
    done = typed("tune", campaign, "-o", tmp_path / "tuned", "--predict-to", "100", "--on", larger)
    assert done.returncode == 0, done.stderr
    assert "predicted, not measured, for 40 to 100 ranks; in no file that a library reads" in done.stdout

    measured, tuned = (read_table(tmp_path / name / "table.json") for name in ("measured", "tuned"))
    assert tuned.rules == measured.rules
    assert measured.predicted is None
    assert tuned.predicted is not None
    assert tuned.predicted.ranks == (40, 80, 100)
    assert {rule.algorithm.provider for rule in tuned.predicted.rules} == {OPEN_MPIS[0].kind, OWN}
    for rule in tuned.predicted.rules:
        assert rule.predicted
        assert (rule.nodes.first, rule.per_node.first) == (1, rule.ranks.first)
        for each in rule.evidence:
            assert each.gain_low is not None
            assert 1.03 < each.gain_low < each.gain

    names = {path.name for path in (tmp_path / "measured").iterdir()}
    assert {path.name for path in (tmp_path / "tuned").iterdir()} == names
    for name in names - {"table.json", "tuning.md"}:
        texts = [(tmp_path / folder / name).read_text() for folder in ("measured", "tuned")]
        assert texts[1].replace(str(tmp_path / "tuned"), str(tmp_path / "measured")) == texts[0], name
    before, after = (json.loads((tmp_path / name / "table.json").read_text()) for name in ("measured", "tuned"))
    apart = {"predicted": None, "checksum": None}
    assert {**after, **apart} == {**before, **apart}
    page = (tmp_path / "tuned" / "tuning.md").read_text()
    assert "## Predicted, not measured" in page
    assert "the default sent the messages of timpani/linear; on more ranks it is assumed to be the same" in page
    assert (
        "The distance between the measured ranks is unknown: their message costs are also used for messages "
        "between ranks of the same socket, of the same node"
    ) in page
    assert "They are in no file that a library reads" in page


def test_a_predicted_gain_holds_on_more_ranks(campaign: Path, larger: Path, tmp_path: Path) -> None:
    done = typed("tune", campaign, "-o", tmp_path / "tuned", "--predict-to", "64", "--on", larger)
    assert done.returncode == 0, done.stderr
    predicted = read_table(tmp_path / "tuned" / "table.json").predicted
    assert predicted is not None
    simulator = Simulator(build_without_mpi(OPEN_MPIS[0]))
    for rule in predicted.rules:
        for each in rule.evidence:
            calls = [
                SimulatedCall("bcast", Algorithm(OWN, name), rule.ranks.first, each.message_bytes)
                for name in ("linear", rule.algorithm.name)
            ]
            default, chosen = simulator.times(calls, COSTS)
            assert isinstance(default, float)
            assert isinstance(chosen, float)
            assert each.gain_low is not None
            assert each.gain_high is not None
            assert each.gain_low <= each.gain <= each.gain_high
            assert each.gain_low <= default / chosen <= each.gain_high


def test_files_say_predicted_rules_where_they_are_asked_for(campaign: Path, larger: Path, tmp_path: Path) -> None:
    asked = ("--predict-to", "64", "--on", larger, "--with-predicted")
    assert typed("tune", campaign, "-o", tmp_path / "measured").returncode == 0
    done = typed("tune", campaign, "-o", tmp_path / "tuned", *asked)
    assert done.returncode == 0, done.stderr
    assert "in the files, as requested" in done.stdout
    ours = (tmp_path / "tuned" / "timpani.rules").read_text()
    assert "rules for 40, 64 ranks are predicted, not measured" in ours
    [first, *_] = [line for line in ours.splitlines() if "ranks=64..64" in line]
    assert "# predicted: " in first
    assert set((tmp_path / "measured" / "timpani.rules").read_text().splitlines()[2:-1]) < set(ours.splitlines())
    [theirs] = (tmp_path / "tuned").glob("*tuned*.conf")
    assert "are predicted, not measured" in theirs.read_text()
    linted = typed("tune", "lint", theirs, "--mpi", OPEN_MPIS[0].mpirun)
    assert "0 errors" in linted.stdout, linted.stdout
    for ranks, folder in product((4, 20, 24, 64, 65), ("measured", "tuned")):
        file = tmp_path / folder / theirs.name
        explained = typed("tune", "explain", file, "--ranks", str(ranks), "--mpi", OPEN_MPIS[0].mpirun).stdout
        assert ("openmpi/binomial" in explained) == (ranks in (4, 20) or (ranks == 64 and folder == "tuned")), explained


def test_a_default_that_nobody_counted_gets_no_rule_and_one_line(larger: Path, tmp_path: Path) -> None:
    folder = made_up(tmp_path / "uncounted", proved_at=())
    done = typed("tune", folder, "-o", tmp_path / "tuned", "--predict-to", "64", "--on", larger)
    assert done.returncode == 0, done.stderr
    [line] = [line for line in done.stdout.splitlines() if line.startswith("not predicted: ")]
    assert "the default can't be compared with: its messages were not counted" in line
    predicted = read_table(tmp_path / "tuned" / "table.json").predicted
    assert predicted is not None
    assert predicted.rules == ()


def test_impossible_predicted_rules_are_refused_in_one_line(campaign: Path, larger: Path, tmp_path: Path) -> None:
    without_costs = made_up(tmp_path / "without costs", ours=())
    simulated = made_up(tmp_path / "simulated", simulated=True)
    for folder, asked, says in (
        (campaign, ("--predict-to", "64"), "the nodes of 64 ranks are unknown"),
        (campaign, ("--predict-to", "20", "--on", larger), "20 ranks were measured already"),
        (campaign, ("--predict-to", "129", "--on", larger), "larger has cores for 128 of 129 ranks"),
        (campaign, ("--predict-to", "many", "--on", larger), "'many' is not a number of ranks; write the largest"),
        (campaign, ("--predict-to", "32:128", "--on", larger), "'32:128' is not a number of ranks"),
        (campaign, ("--predict-to", "", "--on", larger), "the value after --predict-to is empty"),
        (campaign, ("--with-predicted",), "--predict-to RANKS"),
        (campaign, ("--on", larger), "is measured already"),
        (without_costs, ("--predict-to", "64", "--on", larger), "gives no costs"),
        (simulated, ("--predict-to", "64", "--on", larger), "is simulated"),
    ):
        done = typed("tune", folder, "-o", tmp_path / "none", *asked)
        assert (done.returncode, says in done.stderr, done.stderr.count("\n")) == (2, True, 1), done.stderr
        assert not (tmp_path / "none").exists()


def test_predicted_rules_are_never_confirmed(campaign: Path, larger: Path, tmp_path: Path) -> None:
    asked = ("--predict-to", "64", "--on", larger, "--with-predicted")
    assert typed("tune", campaign, "-o", tmp_path / "tuned", *asked).returncode == 0
    table = read_table(tmp_path / "tuned" / "table.json")
    (tmp_path / "tuned" / "table.json").write_text(table_text(replace(table, rules=()), tmp_path / "tuned"))
    done = typed("confirm", tmp_path / "tuned")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert "left alone: " in done.stdout
    assert "has only predicted rules" in done.stderr
