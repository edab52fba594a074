"""From a campaign to files that the real library reads, and to whether they keep their promise."""

import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.campaign.live import timpani
from tests.campaign_files import NOISE, cell, results_of
from tests.cli.typed import typed
from tests.installed import MPICHS, OPEN_MPIS, needs_mpich, needs_open_mpi
from timpani.campaign.folder.header import Header
from timpani.campaign.folder.header_parts import RecordedMpi
from timpani.campaign.folder.load import load
from timpani.campaign.folder.store import Store
from timpani.libraries.mpich.embedded_trees import embedded_trees
from timpani.libraries.mpich.selection_tree import dump
from timpani.machine.describe import MachineDescription
from timpani.native.mpi import Mpi
from timpani.study.study import Study
from timpani.tune.table_file import read_table
from timpani.tune.workflow import deciding_study

RANKS, SIZE = 4, 1024


def header_of(study: Study, mpi: Mpi) -> Header:
    """Of a campaign here that nobody measured."""
    return Header.new(
        study=study.model_dump(mode="json"),
        machine=MachineDescription(name="here"),
        mpi=RecordedMpi(kind=mpi.kind, version=mpi.version, mpirun=str(mpi.mpirun)),
        command="",
        left_out=[],
    )


def made_up(
    folder: Path,
    mpi: Mpi,
    times: dict[str, float],
    ranks: int = RANKS,
    launches: int = len(NOISE),
    planned: tuple[str, ...] = (),
) -> Path:
    """A campaign in which algorithms of bcast took such times; no real one could be made to.

    planned  algorithms that the study has as well
    """
    bcast = {"bcast": (*times, *planned)}
    study = Study.check({"collectives": bcast, "ranks": ranks, "sizes": SIZE, "launches": launches}, "test")
    taken = {cell(f"{mpi.kind}/{name}", SIZE, ranks=ranks): time for name, time in times.items()}
    with Store(folder, header_of(study, mpi)) as store:
        for result in results_of(taken, NOISE[:launches]):
            store.add_result(result)
    return folder


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    return made_up(tmp_path / "a campaign", OPEN_MPIS[0], {"default": 10.0, "linear": 5.0})


@needs_open_mpi
def test_too_few_launches_are_no_verdict_for_the_default(tmp_path: Path) -> None:
    few = made_up(tmp_path / "few", OPEN_MPIS[0], {"default": 10.0, "linear": 5.0}, launches=3)
    done = typed("tune", str(few), "-o", str(tmp_path / "tuned"))
    says = "too few launches for a rule: 1 point undecided after 3 launches"
    assert f"{says}, and a comparison takes 6" in done.stdout
    assert says[1:] in (tmp_path / "tuned" / "tuning.md").read_text()


@needs_open_mpi
def test_a_confirmation_without_rules_is_refused_before_its_job_waits(tmp_path: Path) -> None:
    made_up(tmp_path / "level", OPEN_MPIS[0], {"default": 5.0, "linear": 10.0})
    assert typed("tune", "level", "-o", "tuned", cwd=tmp_path).returncode == 0
    for job in (
        ("confirm", "tuned", "--on", "slurm:EPYC", "--dry-run"),
        ("script", "confirm", "tuned", "--for", "pbs:q"),
    ):
        done = typed(*job, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == "timpani: tuned has no rule to confirm; tuned/tuning.md gives the reason\n"


@needs_open_mpi
def test_files_are_written_checked_explained_and_confirmed(campaign: Path, tmp_path: Path) -> None:
    tuned = tmp_path / "tuned"
    done = typed("tune", str(campaign), "-o", str(tuned))
    assert done.returncode == 0, done.stderr
    assert "Verdict: your library's default is fine at 0 of 1 point; at 1 another algorithm is faster" in done.stdout
    [rule] = read_table(tuned / "table.json").rules
    assert (str(rule.algorithm), rule.ranks.first, rule.sizes.first) == ("openmpi/linear", RANKS, SIZE)
    [file] = tuned.glob("*tuned*.conf")
    assert f'"$_timpani"/{file.name}' in (tuned / "switch-on.sh").read_text()
    assert str(file) in (tuned / "mca-params.conf").read_text()

    linted = typed("tune", "lint", str(file), "--mpi", str(OPEN_MPIS[0].mpirun))
    assert (linted.returncode, "0 errors" in linted.stdout) == (0, True), linted.stdout
    explained = typed("tune", "explain", str(file), "--ranks", str(RANKS), "--mpi", str(OPEN_MPIS[0].mpirun))
    assert [line.split() for line in explained.stdout.splitlines() if "linear" in line] == [
        ["bcast", "1", "KiB", "openmpi/linear"]
    ]

    confirmed = typed("confirm", str(tuned), "--launches", "1")
    assert confirmed.returncode == 0, confirmed.stderr
    # One launch shows no gain; the messages show that the library follows the file, and where it doesn't apply, not.
    assert "1 point with a rule: 0 faster than the default, 0 not significantly different" in confirmed.stdout
    assert "1 with too few launches to decide" in confirmed.stdout
    assert "message counts prove at 1 point that the intended algorithm ran" in confirmed.stdout
    page = (tuned / "confirmation.md").read_text()
    proofs = {row.split("|")[3].strip(): row.split("|")[10].strip() for row in page.splitlines() if "| bcast |" in row}
    assert proofs == {"1023 B": "messages", "1 KiB": "messages", "1025 B": "messages"}

    asked = ("tune", "explain", str(file), "--mpi", str(OPEN_MPIS[0].mpirun), "--ranks")
    compared = typed(*asked, str(RANKS), "--default-from", str(tuned / "confirmation-of-1"))
    [line] = [line for line in compared.stdout.splitlines() if "linear;" in line]
    assert line.split(maxsplit=4)[:4] == ["bcast", "1", "KiB", "openmpi/linear;"], compared.stdout
    assert "without the file it sends as timpani/" in line
    other = typed(*asked, "2", "--default-from", str(tuned / "confirmation-of-1"))
    assert (other.returncode, other.stderr.count("\n")) == (2, 1), other.stderr
    assert f"it did for --ranks {RANKS} --nodes 1" in other.stderr

    moved = tuned.rename(tmp_path / "moved")
    resumed = typed("confirm", str(moved), "--launches", "1")
    assert (resumed.returncode, "1 point with a rule:" in resumed.stdout) == (0, True), resumed.stderr
    elsewhere = campaign.rename(tmp_path / "elsewhere")
    lost = typed("confirm", str(moved), "--launches", "1")
    assert (lost.returncode, lost.stderr.count("\n"), "name it with --campaign" in lost.stderr) == (2, 1, True)
    named = typed("confirm", str(moved), "--launches", "1", "--campaign", str(elsewhere))
    assert named.returncode == 0, named.stderr


@needs_mpich
def test_a_changed_tree_is_compared_with_the_librarys(tmp_path: Path) -> None:
    mpi, file = MPICHS[0], tmp_path / "tree.json"
    own = dump(embedded_trees(mpi).trees["algorithms"])
    explained = []
    for text in (own, own.replace("MPIR_Bcast_intra_binomial", "MPIR_Bcast_intra_scatter_ring_allgather")):
        file.write_text(text)
        explained.append(typed("tune", "explain", str(file), "--ranks", "8", "--mpi", str(mpi.mpirun)).stdout)
    unchanged, changed = ([line for line in each.splitlines()[2:] if "without the file" in line] for each in explained)
    assert unchanged == []
    assert changed
    for line in changed:
        assert "mpich/scatter_allgather_ring; without the file mpich/binomial" in line


@needs_open_mpi
def test_nothing_is_overwritten_but_by_force(campaign: Path, tmp_path: Path) -> None:
    tuned = tmp_path / "tuned"
    assert typed("tune", str(campaign), "-o", str(tuned)).returncode == 0
    before = {path.name: path.read_bytes() for path in tuned.iterdir()}
    again = typed("tune", str(campaign), "-o", str(tuned))
    assert (again.returncode, "exists already" in again.stderr) == (2, True)
    assert {path.name: path.read_bytes() for path in tuned.iterdir()} == before
    assert typed("tune", str(campaign), "-o", str(tuned), "--force").returncode == 0


@needs_open_mpi
def test_an_untunable_campaign_is_refused_in_one_line(campaign: Path, tmp_path: Path) -> None:
    no_default = made_up(tmp_path / "no default", OPEN_MPIS[0], {"linear": 5.0})
    elsewhere = Mpi("openmpi", "Open MPI", "9.9", OPEN_MPIS[0].mpirun, OPEN_MPIS[0].cxx, None)
    other = made_up(tmp_path / "another library", elsewhere, {"default": 10.0, "linear": 5.0})
    tie = made_up(tmp_path / "a tie", OPEN_MPIS[0], {"default": 10.0, "linear": 10.0})
    for folder, says in ((no_default, "did not measure the default"), (other, "Open MPI 9.9, but")):
        done = typed("tune", str(folder), "-o", str(tmp_path / "none"))
        assert (done.returncode, says in done.stderr, done.stderr.count("\n")) == (2, True, 1), done.stderr
        assert not (tmp_path / "none").exists()
    done = typed("tune", str(tie), "-o", str(tmp_path / "tied"))
    assert (done.returncode, "no algorithm is shown to be faster" in done.stdout) == (0, True)
    assert typed("confirm", str(tmp_path / "tied")).returncode == 2
    assert "is no tuning file of a known format" in typed("tune", "lint", str(campaign / "campaign.json")).stderr
    tuned = tmp_path / "tuned"
    assert typed("tune", str(campaign), "-o", str(tuned)).returncode == 0
    strange = typed("confirm", str(tuned), "--campaign", str(other))
    assert (strange.returncode, strange.stderr.count("\n")) == (2, 1), strange.stderr
    assert "but the table is for Open MPI" in strange.stderr
    table = (tuned / "table.json").read_text()
    (tuned / "table.json").write_text(table[:200])
    torn = typed("confirm", str(tuned))
    assert (torn.returncode, "can't be trusted" in torn.stderr) == (2, True)
    nowhere = {**os.environ, "PATH": str(tmp_path / "nothing")}
    none_left = not (Path(sys.executable).parent / "mpirun").exists()  # `tools/setup-mpi` may have put one there
    for command in ("lint", "explain"):
        alone = typed("tune", command, str(tuned / "openmpi-tuned.conf"), env=nowhere)
        assert (alone.returncode, alone.stderr.count("\n")) == ((2, 1) if none_left else (0, 0)), alone.stderr
    asked = typed("tune", str(campaign), "--ranks", "4", "-o", str(tmp_path / "none"))
    assert "is measured already" in asked.stderr


def test_tune_races_unless_launches_are_named_or_times_simulated(tmp_path: Path) -> None:
    nothing = dict.fromkeys(("algorithms", "ranks", "sizes", "datatype", "placement", "launches", "regret"))
    raced = deciding_study(["bcast"], nothing, simulated=False)
    assert (raced.regret, raced.launches) == (0.02, 32)
    assert deciding_study(["bcast"], {**nothing, "regret": "5%"}, simulated=False).regret == 0.05
    for asked, simulated in (({**nothing, "launches": 8}, False), (nothing, True)):
        assert deciding_study(["bcast"], asked, simulated=simulated).regret is None
    (tmp_path / "s.toml").write_text('collectives.bcast = ["default"]\nranks = [2]\nsizes = [8]\nlaunches = 7\n')
    named = deciding_study([str(tmp_path / "s.toml")], nothing, simulated=False)
    assert (named.regret, named.launches) == (None, 7)


@needs_open_mpi
def test_a_dry_run_prints_what_would_be_measured_and_writes_nothing(campaign: Path, tmp_path: Path) -> None:
    tuned, mpi = tmp_path / "tuned", ("--mpi", str(OPEN_MPIS[0].mpirun))
    what = ("bcast", "--algorithms", "default,linear", "--sizes", "8", "--ranks", "2", "--oversubscribe")
    asked = ("tune", *what, *mpi, "-o", str(tuned))
    done = typed(*asked, "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "bcast: default, linear; 8 B" in done.stdout
    assert "then sizes between those at which the choice changes" in done.stdout
    assert not tuned.exists()
    short = typed(*asked, "--budget", "0.1s")
    assert short.returncode == 2
    assert "s of the budget, but starting each of its programs once takes about" in short.stderr
    assert not tuned.exists()

    assert typed("tune", str(campaign), "-o", str(tuned)).returncode == 0
    before = sorted(tuned.iterdir())
    done = typed("confirm", str(tuned), "--launches", "2", "--placement", "node", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "× 2 launches" in done.stdout
    assert f"{RANKS} ranks by node" in done.stdout
    assert sorted(tuned.iterdir()) == before
    refused = typed("confirm", str(tuned), "--placement", "nowhere")
    assert (refused.returncode, "'nowhere' is not a placement" in refused.stderr) == (2, True)


@needs_open_mpi
def test_a_budget_is_for_all_that_tune_measures(tmp_path: Path) -> None:
    """Where rules are written, the campaign that they are made from is not continued: they would not follow it."""
    what = ("bcast", "--algorithms", "default,linear", "--sizes", "8", "--ranks", "2", "--launches", "2")
    how = ("--oversubscribe", "--budget", "10m", "--mpi", str(OPEN_MPIS[0].mpirun))
    asked = ("tune", *what, *how, "-o", str(tmp_path / "tuned"))
    done = typed(*asked)
    assert done.returncode == 0, done.stderr
    deciding = tmp_path / "tuned" / "campaign"
    assert 0 < load(deciding).header.recorded["study"]["budget"] <= 300  # half of ten minutes is for choosing
    measured = (deciding / "results.jsonl").read_bytes()
    assert typed(*asked).returncode == 0
    assert (deciding / "results.jsonl").read_bytes() == measured
    other = typed(*(each.replace("linear", "chain") for each in asked))
    assert (other.returncode, "holds another study" in other.stderr) == (2, True)


@needs_open_mpi
def test_pages_that_were_changed_or_are_of_another_table_are_found(campaign: Path, tmp_path: Path) -> None:
    tuned, other = tmp_path / "tuned", tmp_path / "other"
    assert typed("tune", str(campaign), "-o", str(tuned)).returncode == 0
    assert typed("confirm", str(tuned), "--launches", "1").returncode == 0
    whole = typed("check", str(tuned))
    assert whole.returncode == 0, whole.stdout
    assert whole.stdout.startswith("as written: table.json, tuning.md, confirmation.md;")

    page = tuned / "confirmation.md"
    text = page.read_text()
    for changed, said in (
        (text.replace("0 faster", "1 faster"), "was changed since it was written"),
        (text.replace("0 faster", "1 faster").rpartition("\nChecksum")[0], "has no checksum"),
    ):
        assert changed != text
        page.write_text(changed)
        found = typed("check", str(tuned))
        assert (found.returncode, f"{page} {said}" in found.stdout) == (1, True), found.stdout
        assert "as written: table.json, tuning.md;" in found.stdout

    # A page that is whole, next to a table that it does not confirm.
    slower = made_up(tmp_path / "slower", OPEN_MPIS[0], {"default": 10.0, "linear": 4.0})
    assert typed("tune", str(slower), "-o", str(other)).returncode == 0
    (other / "confirmation.md").write_text(text)
    found = typed("check", str(other))
    assert (found.returncode, "belongs to another table.json" in found.stdout) == (1, True), found.stdout


@needs_open_mpi
def test_rules_for_a_program_name_the_librarys_algorithm_and_its_variables(campaign: Path, tmp_path: Path) -> None:
    done = typed("rules", str(campaign), "--library", "-o", str(tmp_path / "rules"))
    assert done.returncode == 0, done.stderr
    [rule] = [line for line in (tmp_path / "rules").read_text().splitlines() if line.startswith("bcast")]
    assert f"ranks={RANKS}..{RANKS}" in rule
    assert "openmpi/linear@coll_tuned_use_dynamic_rules=1,coll_tuned_bcast_algorithm=1," in rule
    assert timpani("preload", "--rules", tmp_path / "rules", "--", "true").returncode == 0


@needs_open_mpi
@pytest.mark.parametrize(("planned", "says"), [(("all",), "ended before it had measured"), ((), "did not measure")])
def test_a_campaign_without_the_default_says_why(planned: tuple[str, ...], says: str, tmp_path: Path) -> None:
    campaign = made_up(tmp_path / "c", OPEN_MPIS[0], {"linear": 5.0}, planned=planned)
    done = typed("tune", str(campaign), "-o", str(tmp_path / "tuned"))
    assert done.returncode == 2
    assert f"{says} the default" in done.stderr


@needs_open_mpi
def test_rules_among_the_librarys_algorithms_are_for_the_version_that_was_measured(tmp_path: Path) -> None:
    other = made_up(tmp_path / "c", replace(OPEN_MPIS[0], version="3.1.0"), {"default": 10.0, "linear": 5.0})
    done = typed("rules", str(other), "--library", "--mpi", str(OPEN_MPIS[0].mpirun), "-o", str(tmp_path / "rules"))
    assert done.returncode == 2
    assert f"was measured with Open MPI 3.1.0, but {OPEN_MPIS[0]} is another library" in done.stderr
    assert not (tmp_path / "rules").exists()
