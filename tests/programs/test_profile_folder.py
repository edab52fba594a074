"""The folder of a profile: what is read is what was written, and any damage shows."""

from pathlib import Path

import pytest

from tests.cli.typed import typed
from tests.programs.profile_files import CALL, part_text, write_profile
from tests.report.document.test_output_files import full_after
from timpani.errors import UserError
from timpani.programs.pages.call_tables import time_in_collectives
from timpani.programs.profile.profile_folder import HEADER, read_profile
from timpani.reading import checked_line


def test_times_are_seconds_of_a_rank(tmp_path: Path) -> None:
    part = read_profile(write_profile(tmp_path / "p", part_text())).main_part
    spent = time_in_collectives(part)
    assert (spent.total, spent.waiting, spent.moving) == (2.0, 0.5, 1.5)
    assert (part.wall_seconds, part.calls_of(part.calls[0])) == (10.0, 100)
    assert (part.calls[0].bytes_low, part.calls[0].bytes_high) == (1024, 2047)


def test_after_a_full_disk_the_same_command_finds_an_empty_place(tmp_path: Path) -> None:
    with full_after(8), pytest.raises(UserError, match="make room, then give the same command again"):
        write_profile(tmp_path / "p")
    write_profile(tmp_path / "p")


@pytest.mark.parametrize("name", ["part-1.jsonl", HEADER])
def test_a_changed_byte_anywhere_is_found(tmp_path: Path, name: str) -> None:
    folder = write_profile(tmp_path / "p", part_text())
    whole = (folder / name).read_bytes()
    for place in range(0, len(whole), 37):
        (folder / name).write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(UserError):
            read_profile(folder)


def test_without_a_seal_a_changed_lost_or_torn_line_is_found(tmp_path: Path) -> None:
    tmp_path.joinpath("p").mkdir()
    file = tmp_path / "p" / "part-1.jsonl"
    whole = part_text((CALL, {**CALL, "name": "bcast"}))
    lines = whole.splitlines(keepends=True)
    file.write_bytes(whole)
    assert read_profile(tmp_path / "p").notes == ("not sealed: written without `timpani profile`",)
    for damaged in (whole.replace(b'"calls":200', b'"calls":201'), whole[:-5], b"".join(lines[:3] + lines[4:])):
        file.write_bytes(damaged)
        with pytest.raises(UserError):
            read_profile(tmp_path / "p")


def test_a_part_that_was_lost_or_added_is_found(tmp_path: Path) -> None:
    folder = write_profile(tmp_path / "p", part_text(), part_text())
    (folder / "part-3.jsonl").write_bytes(part_text())
    with pytest.raises(UserError, match="was added"):
        read_profile(folder)
    (folder / "part-3.jsonl").unlink()
    (folder / "part-2.jsonl").unlink()
    with pytest.raises(UserError, match="is lost"):
        read_profile(folder)


def test_values_that_no_program_writes_are_one_line(tmp_path: Path) -> None:
    for values in (
        {"calls": -1},
        {"calls": 0, "bytes": 0},
        {"form": "unheard of"},
        {"ranks": "two"},
        {"waiting_ns": None},
    ):
        folder = write_profile(tmp_path / f"p{len(list(tmp_path.iterdir()))}", part_text(({**CALL, **values},)))
        done = typed("show", folder)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    first, *others = part_text().splitlines(keepends=True)[:-1]
    lines = [first, first, *others]
    twice = b"".join([*lines, checked_line({"line": "end", "lines": len(lines)})])
    done = typed("show", write_profile(tmp_path / "twice", twice))
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "has several programs" in done.stderr


def test_show_prints_a_profile_as_text_csv_and_json_and_refuses_the_rest(tmp_path: Path) -> None:
    folder = write_profile(tmp_path / "p", part_text())
    text = typed("show", folder).stdout
    assert "app: 2 ranks on 1 node, 10 s from MPI_Init to MPI_Finalize" in text
    assert typed("show", folder, "--format", "csv").stdout.count("\n") == 2
    assert '"moving"' not in typed("show", folder, "--format", "json").stdout
    refused = typed("show", folder, "--format", "osu")
    assert (refused.returncode, "is a profile" in refused.stderr) == (2, True)
