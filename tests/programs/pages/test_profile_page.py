"""The page of a program's profile."""

from pathlib import Path

import pytest

from tests.cli.typed import typed
from tests.programs.profile_files import CALL, part_text, write_profile
from timpani.programs.pages.call_tables import form_table
from timpani.programs.pages.profile_document import profile_document
from timpani.programs.pages.profile_page import render_profile
from timpani.programs.profile.profile_folder import read_profile

BARRIER = {**CALL, "name": "barrier", "operator": "", "datatype": "", "size_class": 0, "bytes": 0, "ns": 1_000_000_000}
PART = part_text((CALL, {**BARRIER, "matched_calls": 0, "matched_ns": 0, "waiting_ns": 0.0}))


def test_the_answer_splits_the_time_in_collectives(tmp_path: Path) -> None:
    page = render_profile(read_profile(write_profile(tmp_path / "p", PART)))
    assert "app spends 25 % of 10 s in blocking collectives." in page  # (4 + 1) s of two ranks
    assert "Other algorithms can change at most 2 s of it" in page  # without 0.5 s of waiting
    assert "Waiting for late ranks takes 500 ms, which no algorithm changes." in page


def test_the_page_has_a_figure_all_calls_and_what_to_do_and_refers_to_nothing(tmp_path: Path) -> None:
    page = render_profile(read_profile(write_profile(tmp_path / "p", PART)))
    assert page.count("<svg") == 1
    for text in ("waiting for late ranks", "moving data", "allreduce 1 KiB.., 2 ranks", "barrier"):
        assert text in page
    assert f"timpani run --for {tmp_path / 'p'} -o measured" in page
    assert "timpani confirm tuned -- mpirun -np 2 ./app" in page
    assert "http://" not in page.replace("http://www.w3.org/", "")
    assert "https://" not in page


def test_text_of_a_profile_stays_text(tmp_path: Path) -> None:
    folder = write_profile(tmp_path / "p", part_text(({**CALL, "datatype": "<b>bold</b>"},)))
    page = render_profile(read_profile(folder))
    assert "<b>bold" not in page
    assert "&lt;b&gt;bold" in page


def test_estimates_that_exceed_the_run_leave_no_negative_time(tmp_path: Path) -> None:
    none_matched = {"matched_calls": 0, "matched_ns": 0, "waiting_ns": 0.0}
    asking = {**CALL, "name": "test", "form": "completion", "size_class": -1, "ns": 17_000_000_000, **none_matched}
    part = read_profile(write_profile(tmp_path / "p", part_text((CALL, asking)))).main_part
    [title, seconds, share] = form_table(part).rows[-1]  # 2 s + 8.5 s of 10 s
    assert (title.text, seconds.content) == ("outside of MPI's counted calls", 0)
    assert share.detail == "estimates exceed the run by 500 ms"


def test_the_text_has_the_next_command_first_and_one_table(tmp_path: Path) -> None:
    profile = read_profile(write_profile(tmp_path / "p", PART))
    document = profile_document(profile)
    names = [block.name for block in document.blocks]
    assert names == ["command", "answer", "tune", "program", "forms", "details"]
    full = profile_document(profile, details=True)
    assert {"confirm", "measure", "savings", "forms", "calls"} <= {block.name for block in full.blocks}
    spent = full["forms"].at("blocking collectives", "s").content
    assert spent == pytest.approx(2.5)


def test_the_command_writes_next_to_the_sealed_folder_and_refuses_other_options(tmp_path: Path) -> None:
    folder = write_profile(tmp_path / "p", PART)
    done = typed("report", folder)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "p-report.html").is_file()
    read_profile(folder)
    again = typed("report", folder)
    assert again.returncode == 2
    refused = typed("report", folder, "--force", "--linear")
    assert (refused.returncode, "--linear is not for a profile" in refused.stderr) == (2, True)
    missing = typed("report", folder, "--force", "--covered-by", tmp_path / "nothing")
    assert (missing.returncode, "folder not found" in missing.stderr) == (2, True)
