"""A study on a simulated cluster, end to end: SimGrid's program compared with Timpani's."""

import json
import os
import signal
from contextlib import suppress
from pathlib import Path

import polars as pl
import pytest

from tests.campaign.live import Live, gone, keys, wait_until
from tests.cli.typed import typed
from tests.installed import needs_simgrid
from timpani.campaign.folder.load import load
from timpani.judge.cell_table import estimate_cells
from timpani.judge.decide import decide
from timpani.judge.raced import RacedResults
from timpani.machine.cores import read_cores
from timpani.machine.platform import shipped_platforms

pytestmark = needs_simgrid

_STUDY = """
ranks = [4, 16]
sizes = [8, 65536]
placement = ["core", "socket"]

[collectives]
bcast = ["default", "openmpi/basic_linear", "timpani/binomial"]
scatter = ["default", "openmpi/basic_linear", "openmpi/binomial"]
"""


def run(folder: Path, *arguments: str) -> tuple[pl.DataFrame, str]:
    """The results of a small study on a shipped platform, and what the run said on stderr."""
    study = folder.with_suffix(".toml")
    study.write_text(_STUDY)
    done = typed("run", study, "--on", "simgrid:two-nodes-of-24", "-o", folder, *arguments)
    assert done.returncode == 0, done.stderr
    return load(folder).results, done.stderr


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, pl.DataFrame, str]:
    folder = tmp_path_factory.mktemp("simulated") / "first"
    return folder, *run(folder)


def test_every_cell_has_right_data_and_says_that_it_is_simulated(campaign: tuple[Path, pl.DataFrame, str]) -> None:
    _, results, _ = campaign
    assert results.height == 2 * 3 * 2 * 2 * 2
    assert results["error"].null_count() == results.height
    assert results["simulated"].all()
    assert set(estimate_cells(RacedResults.from_rows(results))["status"]) == {"simulated"}


def test_a_second_run_gives_the_same_times(campaign: tuple[Path, pl.DataFrame, str], tmp_path: Path) -> None:
    """In another order, times differ by whole nanoseconds: the clock's resolution, and one for each of the messages
    that 15 ranks receive one after another, since SimGrid merges events within a nanosecond."""
    _, first, _ = campaign
    second, _ = run(tmp_path / "second", "--seed", "7")
    keys = ["collective", "provider", "algorithm", "ranks", "placement", "message_bytes"]
    both = first.join(second, on=keys, suffix="_again", validate="1:1")
    assert both.height == first.height
    assert both.select((pl.col("median_us") - pl.col("median_us_again")).abs().max()).item() <= 0.016


def test_simulations_run_concurrently_and_stop_and_continue_together(tmp_path: Path) -> None:
    study = ("bcast", "--algorithms", "default,binomial_tree,flattree", "--ranks", "48", "--sizes", "1:512Ki")
    with Live(tmp_path / "c", *study, "--on", "simgrid:two-nodes-of-24") as live:

        def simulating() -> bool:
            """As many as there are cores; a simulation that reads the platform comes before the first launch."""
            if not any(live.folder.glob("launches/*")):
                return False
            under_way = live.ranks()
            for pid in under_way:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGSTOP)  # none ends first, however fast the machine is
            return len(under_way) == min(2, read_cores().usable)

        live.until(simulating)
        under_way = live.ranks()
        live.process.send_signal(signal.SIGINT)
        done = live.end()
    assert done.returncode == 130
    assert done.stderr.endswith("results still missing; the same command continues\n")
    wait_until(lambda: all(map(gone, under_way)))
    again = typed(*live.arguments)
    assert again.returncode == 0, again.stderr
    assert len(keys(tmp_path / "c")) == 3 * 20


def test_times_are_those_of_the_platform(campaign: tuple[Path, pl.DataFrame, str]) -> None:
    """A linear scatter's root sends a block to all but itself, at 8 GB/s."""
    _, results, _ = campaign
    scatter = results.filter(collective="scatter", algorithm="ompi_basic_linear", ranks=16, message_bytes=65536)
    least = 15 * 65536 / 8e3  # µs
    assert all(least < time < 1.2 * least for time in scatter["median_us"])


def test_a_best_algorithm_is_named_without_launches(campaign: tuple[Path, pl.DataFrame, str]) -> None:
    _, results, _ = campaign
    decisions = decide(RacedResults.from_rows(results))
    assert set(decisions["verdict"]) <= {"better", "default", "tie"}
    large = decisions.filter(collective="bcast", ranks=16, message_bytes=65536, placement="core")
    assert "flattree" not in large["tied"].to_list()[0]  # fifteen times the message through one core
    assert decisions["gain_low"].drop_nulls().is_in([1.0]).all()  # nothing varies: no interval but the default's own


def test_rules_from_simulated_times_say_so_first_and_last(tmp_path: Path) -> None:
    folder, tuned = tmp_path / "campaign", tmp_path / "tuned"
    what = ("bcast", "--algorithms", "default,timpani/circulant", "--ranks", "4", "--sizes", "64Ki")
    assert typed("run", *what, "--on", "simgrid:two-nodes-of-24", "-o", folder).returncode == 0
    done = typed("tune", folder, "-o", tuned)
    assert done.stdout.splitlines()[-1].startswith("simulated, not measured")
    assert "\n| collective | ranks | sizes | algorithm | gain | cost |\n" in (tuned / "tuning.md").read_text()
    assert "chance" not in (tuned / "tuning.md").read_text()
    assert (tuned / "tuning.md").read_text().splitlines()[2].startswith("**Simulated, not measured")
    assert (tuned / "timpani.rules").read_text().splitlines()[1] == "# simulated, not measured"
    assert json.loads((tuned / "table.json").read_text())["simulated"]
    alone = typed("rules", folder, "-o", tmp_path / "rules")
    assert alone.stdout.splitlines()[-1].startswith("simulated, not measured")
    assert (tmp_path / "rules").read_text().splitlines()[1] == "# simulated, not measured"
    again = typed("confirm", tuned)
    assert (again.returncode, "measure on a real machine" in again.stderr) == (2, True)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("--on simgrid:moon", "moon"),
        ("--on simgrid:two-nodes-of-24", "64 ranks are more than the 48 cores"),
        ("--mpi simgrid", "name a platform: `--on simgrid:two-nodes-of-24`"),
        ("--mpi simgrid --on here", "name a platform: `--on simgrid:two-nodes-of-24`"),
    ],
)
def test_an_impossible_simulation_is_refused_in_one_line(words: str, says: str, tmp_path: Path) -> None:
    done = typed("run", "bcast", "--algorithms", "default", "--ranks", "64", *words.split(), "-o", tmp_path / "c")
    assert (done.returncode, (tmp_path / "c").exists()) == (2, False)
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_folders_and_files_may_have_names_that_smpirun_would_take_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (here := tmp_path / "a folder, or [two]").mkdir()
    (here / "my *platform.xml").write_text(shipped_platforms()["two-nodes-of-24"].read_text())
    done = typed(
        *("run", "bcast", "--algorithms", "default", "--ranks", "2", "--sizes", "8"),
        *("--on", f"simgrid:{here.name}/my *platform.xml", "-o", f"{here.name}/c"),
    )
    assert done.returncode == 0, done.stderr
    assert load(here / "c").results.height == 1
