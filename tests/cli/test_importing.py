from pathlib import Path

import typer
from typer.testing import CliRunner, Result

from timpani.cli.importing import import_
from timpani.cli.show import show
from timpani.errors import UserError

LOGS = Path(__file__).parents[1] / "data" / "osu"
APP = typer.Typer()
APP.command("import")(import_)
APP.command("show")(show)


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(APP, [str(argument) for argument in arguments])


def test_old_logs_become_a_campaign_that_can_be_shown(tmp_path: Path) -> None:
    folder = tmp_path / "old"
    logs = [LOGS / "bcast-7.4-full.txt", LOGS / "bcast-7.4-full-second.txt", LOGS / "latency-5.6.txt"]
    told = run("import", *logs, "-o", folder, "--ranks", "2", "--machine", "cluster", "--algorithm", "knomial")
    assert told.exit_code == 0
    assert told.stdout.startswith("43 results")
    table = run("show", folder).stdout
    assert "Broadcast, 2 ranks" in table
    assert "Latency of a message, 2 ranks" in table
    assert "on cluster" in table
    assert "knomial" in table
    assert "OSU avg µs" in table


def test_osu_output_comes_back_as_it_went_in(tmp_path: Path) -> None:
    log = LOGS / "bcast-7.4-full.txt"
    run("import", log, "-o", tmp_path / "old", "--ranks", "2")
    shown = run("show", tmp_path / "old", "--format", "osu", "--full").stdout.splitlines()
    assert [line for line in shown if not line.startswith("# Timpani")] == log.read_text().splitlines()


def test_the_rank_count_must_be_told(tmp_path: Path) -> None:
    error = run("import", LOGS / "bcast-5.6.txt", "-o", tmp_path / "old").exception
    assert isinstance(error, UserError)
    assert "--ranks" in error.next_step


def test_nothing_is_imported_twice_into_a_folder(tmp_path: Path) -> None:
    arguments = ("import", LOGS / "bcast-5.6.txt", "-o", tmp_path / "old", "--ranks", "2")
    run(*arguments)
    before = (tmp_path / "old" / "results.jsonl").read_bytes()
    assert isinstance(run(*arguments).exception, UserError)
    assert (tmp_path / "old" / "results.jsonl").read_bytes() == before
