from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from tests.installed import needs_compiler, needs_open_mpi
from timpani.cli.files import import_
from timpani.cli.show import show
from timpani.errors import UserError

LOGS = Path(__file__).parents[1] / "data" / "osu"
APP = typer.Typer()
APP.command("import")(import_)
APP.command("show")(show)


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(APP, [str(argument) for argument in arguments])


@needs_compiler
def test_old_logs_become_a_campaign_that_can_be_shown(tmp_path: Path) -> None:
    folder = tmp_path / "old"
    logs = [LOGS / "bcast-7.4-full.txt", LOGS / "bcast-7.4-full-second.txt", LOGS / "latency-5.6.txt"]
    done = run("import", *logs, "-o", folder, "--ranks", "2", "--machine", "cluster", "--algorithm", "knomial")
    assert done.exit_code == 0
    assert done.stdout.startswith("43 results")
    table = run("show", folder).stdout
    assert "Broadcast, 2 ranks" in table
    assert "Latency of a message, 2 ranks" in table
    assert "machine cluster" in table
    assert "knomial" in table
    assert "OSU avg µs" in table


def test_osu_output_comes_back_as_it_went_in(tmp_path: Path) -> None:
    log = LOGS / "bcast-7.4-full.txt"
    run("import", log, "-o", tmp_path / "old", "--ranks", "2")
    shown = run("show", tmp_path / "old", "--format", "osu", "--full").stdout.splitlines()
    assert [line for line in shown if not line.startswith("# Timpani")] == log.read_text().splitlines()


def log(path: Path, *rows: tuple[int, str]) -> Path:
    head = "# OSU MPI Broadcast Latency Test v7.4\n# Datatype: MPI_CHAR.\n# Size       Avg Latency(us)\n"
    path.write_text(head + "".join(f"{size} {time}\n" for size, time in rows))
    return path


def test_times_that_can_t_be_are_doubted(tmp_path: Path) -> None:
    file = log(tmp_path / "osu.log", (1, "1000000000.00"), (2, "0.0000001"), (4, "0.94"), (8, "0.95"))
    done = run("import", file, "-o", tmp_path / "old", "--ranks", "2")
    assert done.exit_code == 0
    assert "doubtful: bcast default on 2 ranks, 2 B: 1e-07 µs is under a nanosecond" in done.stderr
    assert "doubtful: bcast default on 2 ranks, 1 B: 1,000,000,000 µs is over a minute a call" in done.stderr
    assert "1e-07" in run("show", tmp_path / "old").stdout
    quiet = run("import", LOGS / "bcast-7.4-full.txt", "-o", tmp_path / "quiet", "--ranks", "2")
    assert quiet.stderr == ""


@needs_open_mpi
def test_a_misspelled_algorithm_is_refused_unless_one_insists(tmp_path: Path) -> None:
    arguments = ("import", f"binomal={LOGS / 'bcast-5.6.txt'}", "-o", tmp_path / "old", "--ranks", "2")
    error = run(*arguments).exception
    assert isinstance(error, UserError)
    assert error.what == "unknown bcast algorithm 'binomal'"
    assert "did you mean binomial" in error.next_step
    assert "--any-name takes it as it is" in error.next_step
    assert not (tmp_path / "old").exists()
    assert run(*arguments, "--any-name").exit_code == 0


def test_without_a_library_a_name_is_taken_and_reported_as_unchecked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("timpani.libraries.find.sys.prefix", str(tmp_path))
    done = run("import", f"binomal={LOGS / 'bcast-5.6.txt'}", "-o", tmp_path / "old", "--ranks", "2")
    assert done.exit_code == 0
    assert "Warning: no library here shows whether bcast has an algorithm 'binomal'" in done.stderr


def test_an_import_needs_the_rank_count(tmp_path: Path) -> None:
    error = run("import", LOGS / "bcast-5.6.txt", "-o", tmp_path / "old").exception
    assert isinstance(error, UserError)
    assert "--ranks" in error.next_step
