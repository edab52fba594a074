"""mpisee's database as a profile: what it shows is read exactly, and what mpisee does not write is refused."""

from pathlib import Path

import pytest

from tests.cli.typed import typed
from tests.programs.profile_files import mpisee_database
from timpani.errors import UserError
from timpani.programs.imported.mpisee_import import import_mpisee
from timpani.programs.profile.profile_folder import ProgramProfile, read_profile
from timpani.programs.profile.profiled_points import profiled_points


def imported(folder: Path, *changes: str) -> ProgramProfile:
    (folder / "known.db").write_bytes(mpisee_database(*changes))
    return import_mpisee(folder / "known.db", folder / "p")


def test_calls_bytes_and_communicators_are_those_of_the_program(tmp_path: Path) -> None:
    part = imported(tmp_path).main_part
    lines = {(line.form, line.name): line for line in part.calls}
    allreduce = lines["blocking", "allreduce"]
    assert (part.calls_of(allreduce), allreduce.bytes, allreduce.size_class) == (50, 4 * 50 * 8000, 13)
    assert (allreduce.ranks, allreduce.nodes, allreduce.per_node, allreduce.world) == (4, 1, 4, True)
    ibcast = lines["non_blocking", "bcast"]
    assert (part.calls_of(ibcast), ibcast.bytes) == (3, 4 * 3 * 100)
    send = lines["message", "send"]
    assert (part.calls_of(send), send.bytes, send.ranks) == (20, sum(range(20)), 0)
    assert lines["completion", "wait"].calls == 12
    assert not any("init" in line.name for line in part.calls)
    barrier = lines["blocking", "barrier"]
    assert barrier.ns_max / 1e9 == pytest.approx(0.3, rel=0.2), "rank 3 sleeps 0.3 s before the barrier"
    assert [round(rank.wall_ns / 1e9, 3) for rank in part.ranks] == [0.661, 0.656, 0.656, 0.661]
    assert part.ranks[0].blocking_ns == pytest.approx(0.5798e9, rel=0.001)


def test_a_communicator_whose_ranks_are_unknown_has_no_nodes(tmp_path: Path) -> None:
    silent = imported(tmp_path, "DELETE FROM data WHERE rank = 2").main_part
    assert {(line.ranks, line.nodes) for line in silent.calls if line.form == "blocking"} == {(4, 0)}


def test_only_calls_without_a_datatype_can_be_measured(tmp_path: Path) -> None:
    profile = imported(tmp_path)
    assert {point.collective for point in profiled_points(profile.main_part)} == {"barrier"}
    assert any("datatypes" in note for note in profile.notes)


def test_the_command_imports_and_shows(tmp_path: Path) -> None:
    (tmp_path / "known.db").write_bytes(mpisee_database())
    done = typed("import", tmp_path / "known.db", "-o", tmp_path / "p")
    assert done.returncode == 0, done.stderr
    header = read_profile(tmp_path / "p").header
    assert header is not None
    assert (header.source, header.command, header.began) == ("mpisee 4.1", ("./known",), "2026-11-28T01:11:23")
    assert "timpani profile -o p -- mpirun -np 4 ./known" in typed("show", tmp_path / "p").stdout
    both = typed("import", tmp_path / "known.db", tmp_path / "known.db", "-o", tmp_path / "q")
    assert (both.returncode, "import it alone" in both.stderr) == (2, True)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("DROP TABLE exectimes", "no such table: exectimes"),
        ("UPDATE data SET calls = -1 WHERE rank = 0", "calls"),
        ("UPDATE data SET time = 'long' WHERE rank = 0", "seconds"),
        ("DELETE FROM mappings WHERE id = 3", "a host and a time for each rank"),
        ("UPDATE data SET rank = 9 WHERE rank = 3", "more than its 4 ranks"),
        ("DELETE FROM metadata", "does not name the program's command"),
        ("UPDATE metadata SET value = 'today' WHERE key = 'Profile date'", "'today' is no date of mpisee"),
    ],
)
def test_a_database_that_mpisee_does_not_write_is_refused(tmp_path: Path, change: str, said: str) -> None:
    with pytest.raises(UserError) as refused:
        imported(tmp_path, change)
    assert said in refused.value.what
    assert not (tmp_path / "p").exists()


def test_a_torn_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "torn.db").write_bytes(mpisee_database()[:5000])
    with pytest.raises(UserError, match=r"torn\.db is no database of mpisee"):
        import_mpisee(tmp_path / "torn.db", tmp_path / "p")
