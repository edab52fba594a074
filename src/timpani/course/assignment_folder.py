"""The folder of an assignment: the algorithm to write, a study, and a report to fill in."""

import re
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

from timpani.course.assignment import ALGORITHM, FILE, START, Assignment
from timpani.errors import UserError, cannot_write
from timpani.study.operations import title_of
from timpani.study.sizes import show_size

ALGORITHMS = "algorithms"
STUDY = "study.toml"
REPORT = "report/report.tex"

_TODO = re.compile(r"\bTODO\b")
_DISCUSSION = re.compile(r"% discussion begins\n(?P<text>.*?)% discussion ends", re.DOTALL)
_TEX_COMMENT = re.compile(r"(?<!\\)%.*")
_WORD = re.compile(r"[^\W\d_]{2,}")

_STEP = "restore it from a new folder with the same seed"


def write_folder(folder: Path, assignment: Assignment) -> list[Path]:
    """Write the assignment into `folder`, which is new or empty; returns its files."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError(f"{folder} is not empty", "choose another folder")
    written = []
    try:
        for name, content in _files(assignment):
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            written.append(path)
    except OSError as error:
        raise cannot_write(folder, error) from None
    return written


def _files(assignment: Assignment) -> Iterator[tuple[str, bytes]]:
    values = {
        "collective": assignment.collective,
        "title": title_of(assignment.collective),
        "algorithm": ALGORITHM,
        "start": START,
        "reference": assignment.reference,
        "words": assignment.words,
        "seed": str(assignment.seed),
        "ranks": ", ".join(map(str, assignment.ranks)),
        "sizes": " and ".join(map(show_size, assignment.sizes)),
        "file": assignment.student_file()[0],
        "max_ranks": str(max(assignment.ranks)),
        "rank_list": str(list(assignment.ranks)),
        "size_list": str(list(assignment.sizes)),
    }
    templates = resources.files("timpani.course")
    for name, template in (("README.md", "task.md"), (STUDY, "study.txt"), (REPORT, "report.txt")):
        text = (templates / template).read_text()
        for key, value in values.items():
            text = text.replace(f"«{key}»", value)
        yield name, text.encode()
    for name, text in (assignment.student_file(), assignment.start_file()):
        yield f"{ALGORITHMS}/{name}", text.encode()
    yield FILE, assignment.sealed()


def check_algorithms(folder: Path, assignment: Assignment) -> Path:
    """The folder of the algorithms; UserError where it holds other files, lacks one, or the start was changed."""
    place = folder / ALGORITHMS
    name, _ = assignment.student_file()
    start, text = assignment.start_file()
    found = {path.name for path in place.iterdir()} if place.is_dir() else set()
    if missing := sorted({name, start} - found):
        raise UserError(f"{place / missing[0]} is missing", _STEP)
    if others := sorted(path for path in found - {name, start} if path.endswith((".cpp", ".hpp"))):
        raise UserError(f"{place} holds {others[0]}", f"write all of your algorithm into {name}")
    _check_unchanged(place / start, text.encode())
    return place


def check_study(folder: Path, assignment: Assignment) -> Path:
    """The file of the study; UserError where it was changed: the times of its ranks and sizes are graded."""
    path = folder / STUDY
    _check_unchanged(path, dict(_files(assignment))[STUDY])
    return path


def _check_unchanged(path: Path, content: bytes) -> None:
    if not path.is_file():
        raise UserError(f"{path} is missing", _STEP)
    if path.read_bytes() != content:
        raise UserError(f"{path} was changed", _STEP)


def open_todos(folder: Path, assignment: Assignment) -> int:
    """How many TODOs are left in the student's file."""
    name, _ = assignment.student_file()
    return len(_TODO.findall((folder / ALGORITHMS / name).read_text(errors="replace")))


def discussion_words(folder: Path) -> int:
    """How many words the discussion of the report has; 0 without a report."""
    try:
        text = (folder / REPORT).read_text(errors="replace")
    except FileNotFoundError:
        return 0
    found = _DISCUSSION.search(text)
    return len(_WORD.findall(_TEX_COMMENT.sub("", found["text"]))) if found else 0
