"""mpiP's report as a profile: what it shows is read exactly, and a line that mpiP does not write is refused."""

from pathlib import Path

import pytest

from tests.cli.typed import typed
from timpani.errors import UserError
from timpani.programs.imported.mpip_import import import_mpip
from timpani.programs.imported.mpip_report import read_mpip_report
from timpani.programs.profile.profile_folder import read_profile
from timpani.programs.profile.profile_lines import CallsLine, ProfilePart

REPORT = Path(__file__).parents[1] / "data" / "mpip" / "known.4.mpiP"
"""Of `known.c` there on four ranks, by the source of mpiP of 30 September 2025 on Debian 12."""

THRESHOLD = REPORT.with_name("known-threshold.4.mpiP")
"""The same with MPIP='-t 10 -k 2': without ranks below 10 % of their time in MPI; call sites have two levels."""

CONCISE = REPORT.with_name("known-concise.4.mpiP")


def imported(folder: Path, report: Path = REPORT) -> ProfilePart:
    return import_mpip(report, folder).main_part


def calls_of(part: ProfilePart, name: str) -> list[CallsLine]:
    return [line for line in part.calls if line.name == name]


def test_calls_and_bytes_are_those_of_the_program(tmp_path: Path) -> None:
    part = imported(tmp_path / "p")
    [allreduce] = calls_of(part, "allreduce")
    assert (allreduce.form, allreduce.calls, allreduce.bytes) == ("blocking", 4 * 50, 4 * 50 * 1000 * 8)
    assert (allreduce.smallest_bytes, allreduce.largest_bytes, allreduce.size_class) == (8000, 8000, 13)
    [ibcast] = calls_of(part, "bcast")
    assert (ibcast.form, ibcast.calls, ibcast.bytes) == ("non_blocking", 4 * 3, 4 * 3 * 100)
    [send] = calls_of(part, "send")
    assert (send.calls, send.bytes, send.size_class) == (20, sum(range(20)), -1)
    forms = {line.name: line.form for line in part.calls}
    assert forms["recv"] == "message"
    assert forms["wait"] == "completion"
    assert forms["comm_split"] == "other"
    assert all(line.ranks == 0 and not line.matched_calls for line in part.calls)


def test_times_are_those_of_the_report(tmp_path: Path) -> None:
    part = imported(tmp_path / "p")
    report = read_mpip_report(REPORT)
    assert [rank.wall_ns / 1e9 for rank in part.ranks] == report.seconds
    in_mpi = sum(line.ns for line in part.calls) / 1e9
    printed = next(line for line in REPORT.read_text().splitlines() if line.startswith("   *"))
    assert in_mpi == pytest.approx(float(printed.split()[2]), rel=0.01)
    [barrier] = calls_of(part, "barrier")
    assert barrier.ns_max / 1e9 == pytest.approx(0.3, rel=0.2), "rank 3 sleeps 0.3 s before the barrier"
    assert sum(rank.blocking_ns for rank in part.ranks) == pytest.approx(
        sum(line.ns for line in part.calls if line.form == "blocking"), rel=0.01
    )


def test_call_sites_are_named(tmp_path: Path) -> None:
    [allreduce] = calls_of(imported(tmp_path / "p"), "allreduce")
    assert allreduce.site
    [deeper] = calls_of(imported(tmp_path / "deeper", THRESHOLD), "allreduce")
    assert deeper.site.count(" < ") == 1


def test_shares_that_mpip_left_out_are_reported(tmp_path: Path) -> None:
    notes = import_mpip(THRESHOLD, tmp_path / "p").notes
    assert any("left out ranks with little time" in note for note in notes)
    assert not any("left out ranks" in note for note in import_mpip(REPORT, tmp_path / "whole").notes)


def test_sections_that_a_profile_cannot_hold_are_reported(tmp_path: Path) -> None:
    report = tmp_path / "files.4.mpiP"
    end = "@--- End of Report"
    section = "@--- Callsite I/O statistics (all, I/O bytes) ----\nName Site Rank Count Max Mean Min Sum\n"
    report.write_text(REPORT.read_text().replace(end, f"{section}File_write 1 0 1 8 8 8 8\n{end}"))
    assert any("left out: the bytes of its sections I/O" in note for note in import_mpip(report, tmp_path / "p").notes)
    assert not any("sections" in note for note in import_mpip(REPORT, tmp_path / "whole").notes)


def test_the_command_line_imports_shows_and_reports(tmp_path: Path) -> None:
    folder = tmp_path / "p"
    done = typed("import", REPORT, "-o", folder)
    assert (done.returncode, done.stderr) == (0, "")
    shown = typed("show", folder).stdout
    assert "mpiP does not record communicators" in shown
    assert "call site" in shown
    assert typed("report", folder, "-o", tmp_path / "p.html").returncode == 0
    page = (tmp_path / "p.html").read_text()
    assert "How much of it an algorithm could change is unknown" in page
    assert "timpani profile -o p -- mpirun -np 4" in page
    measured = typed("run", "--for", folder, "-o", tmp_path / "measured")
    assert (measured.returncode, measured.stderr.count("\n")) == (2, 1)
    assert "on communicators that the profile does not show" in measured.stderr


@pytest.mark.parametrize("option", [("--ranks", "4"), ("--any-name",), ("--machine", "desk")])
def test_an_option_of_benchmarks_is_refused(option: tuple[str, ...], tmp_path: Path) -> None:
    done = typed("import", REPORT, *option, "-o", tmp_path / "p")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert not (tmp_path / "p").exists()


@pytest.mark.parametrize("number", range(2, 40))
def test_a_line_that_mpip_does_not_write_is_named(tmp_path: Path, number: int) -> None:
    lines = REPORT.read_text().splitlines()
    lines.insert(number - 1, "srun: job 17 queued")
    file = tmp_path / "report.mpiP"
    file.write_text("\n".join(lines))
    with pytest.raises(UserError, match=r"report\.mpiP:\d+ is no line of mpiP's report") as refused:
        read_mpip_report(file)
    named = int(refused.value.what.partition("report.mpiP:")[2].split()[0])
    assert named == number


def test_a_torn_report_is_refused(tmp_path: Path) -> None:
    lines = REPORT.read_text().splitlines()
    file = tmp_path / "report.mpiP"
    for end in range(1, len(lines) - 2):
        file.write_text("\n".join(lines[:end]))
        with pytest.raises(UserError):
            read_mpip_report(file)


def test_a_lost_line_of_a_call_site_is_refused(tmp_path: Path) -> None:
    lines = REPORT.read_text().splitlines()
    sections = [number for number, line in enumerate(lines) if line.startswith("@---")]
    begin = next(number for number in sections if lines[number].startswith("@--- Callsite Time"))
    end = next(number for number in sections if number > begin)
    places = next(number for number in sections if lines[number].startswith("@--- Callsites"))
    totals = [number for number in range(begin, end) if "*" in lines[number]]
    file = tmp_path / "report.mpiP"
    for lost in (places + 3, *totals):
        file.write_text("\n".join([*lines[:lost], *lines[lost + 1 :]]))
        with pytest.raises(UserError, match=r"call site|lacks the line of all ranks"):
            read_mpip_report(file)


def test_a_concise_report_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="concise report") as refused:
        import_mpip(CONCISE, tmp_path / "p")
    assert refused.value.next_step == "run mpiP without -c"
    assert not (tmp_path / "p").exists()


def test_an_imported_profile_shows_damage(tmp_path: Path) -> None:
    import_mpip(REPORT, tmp_path / "p")
    part = tmp_path / "p" / "part-1.jsonl"
    part.write_bytes(part.read_bytes().replace(b'"calls":200', b'"calls":201'))
    with pytest.raises(UserError):
        read_profile(tmp_path / "p")
