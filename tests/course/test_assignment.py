"""An assignment follows from its seed, and a folder that was changed shows it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.typed import typed
from timpani.course.assignment import _RANKS, _TASKS, Assignment, read_assignment
from timpani.course.assignment_folder import (
    REPORT,
    check_algorithms,
    discussion_words,
    open_todos,
    write_folder,
)
from timpani.errors import UserError
from timpani.study.study import read_study


def written(folder: Path, seed: int = 1) -> Path:
    write_folder(folder, Assignment.draw(seed))
    return folder


def test_a_seed_is_one_assignment_and_others_differ() -> None:
    assert Assignment.draw(7) == Assignment.draw(7)
    drawn = {(each.collective, each.reference, each.ranks, each.sizes) for each in map(Assignment.draw, range(400))}
    assert {name for name, *_ in drawn} == {task.collective for task in _TASKS}
    assert {ranks for _, _, ranks, _ in drawn} == set(_RANKS)
    assert len(drawn) > 200


def test_every_task_has_files_a_study_and_todos(tmp_path: Path) -> None:
    found: dict[tuple[str, str], Assignment] = {}
    for seed in range(200):
        assignment = Assignment.draw(seed)
        found.setdefault((assignment.collective, assignment.reference), assignment)
    assert len(found) == len(_TASKS)
    for assignment in found.values():
        folder = tmp_path / assignment.collective / assignment.reference.replace(":", "-")
        names = sorted(path.relative_to(folder).as_posix() for path in write_folder(folder, assignment))
        assert names == [
            "README.md",
            f"algorithms/{assignment.collective}_mine.cpp",
            f"algorithms/{assignment.collective}_start.cpp",
            "assignment.json",
            "report/report.tex",
            "study.toml",
        ]
        assert "«" not in "".join(path.read_text() for path in folder.rglob("*.*") if path.is_file())
        study = read_study(folder / "study.toml")
        assert (list(study.collectives), study.ranks) == ([assignment.collective], assignment.ranks)
        assert open_todos(folder, assignment) == 4
        assert check_algorithms(folder, assignment) == folder / "algorithms"
        assert read_assignment(folder) == assignment


def test_the_command_writes_a_folder_once(tmp_path: Path) -> None:
    done = typed("course", "new", tmp_path / "a", "--seed", "1")
    assert (done.returncode, done.stdout.splitlines()[0].split(":")[0]) == (0, "assignment 1, bcast")
    before = {path: path.read_bytes() for path in (tmp_path / "a").rglob("*.*") if path.is_file()}
    refused = typed("course", "new", tmp_path / "a", "--seed", "2")
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert "is not empty" in refused.stderr
    assert before == {path: path.read_bytes() for path in (tmp_path / "a").rglob("*.*") if path.is_file()}


def another_seed(folder: Path) -> None:
    path = folder / "assignment.json"
    path.write_text(path.read_text().replace('"seed": 1', '"seed": 2'))


def nonsense(folder: Path) -> None:
    (folder / "assignment.json").write_text("nonsense")


def no_assignment(folder: Path) -> None:
    (folder / "assignment.json").unlink()


def no_algorithm(folder: Path) -> None:
    (folder / "algorithms/bcast_mine.cpp").unlink()


def second_file(folder: Path) -> None:
    (folder / "algorithms/more.cpp").write_text("")


def changed_start(folder: Path) -> None:
    (folder / "algorithms/bcast_start.cpp").write_text("// slower")


def fewer_ranks(folder: Path) -> None:
    study = folder / "study.toml"
    study.write_text(study.read_text().replace("ranks = [", "ranks = [2, "))


def no_study(folder: Path) -> None:
    (folder / "study.toml").unlink()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (another_seed, "was changed"),
        (nonsense, "was changed"),
        (no_assignment, "is no assignment"),
        (no_algorithm, "bcast_mine.cpp is missing"),
        (second_file, "holds more.cpp"),
        (changed_start, "bcast_start.cpp was changed"),
        (fewer_ranks, "study.toml was changed"),
        (no_study, "study.toml is missing"),
    ],
)
def test_a_changed_folder_is_refused_in_one_line(tmp_path: Path, change: Callable[[Path], None], reason: str) -> None:
    change(written(tmp_path / "a"))
    refused = typed("course", "check", tmp_path / "a")
    assert (refused.returncode, refused.stderr.count("\n"), refused.stdout) == (2, 1, "")
    assert reason in refused.stderr


def test_words_of_the_discussion_are_counted(tmp_path: Path) -> None:
    folder = written(tmp_path / "a")
    assert discussion_words(folder) == 0
    report = folder / REPORT
    said = "% discussion begins\nThe ring is slower: 12 µs. % a comment with words\n"
    report.write_text(report.read_text().replace("% discussion begins\n", said))
    assert discussion_words(folder) == 5
    report.unlink()
    assert discussion_words(folder) == 0


def test_an_assignment_of_another_version_is_refused(tmp_path: Path) -> None:
    folder = written(tmp_path / "a")
    other = Assignment(1, "bcast", "linear", "Otherwise.", (2,), (8,))
    (folder / "assignment.json").write_bytes(other.sealed())
    with pytest.raises(UserError, match="is of another version"):
        read_assignment(folder)
