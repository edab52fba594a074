"""Texts are plain English: the check finds what it should, lets plain sentences pass, and holds all files to it."""

import re
import subprocess
from pathlib import Path

import pytest
from tools.check_language import EXCEPTIONS, MAX_SENTENCE_WORDS, ROOT, check, check_file

LONG = "Each algorithm " + "runs and " * ((MAX_SENTENCE_WORDS - 4) // 2) + "runs again on Monday."


def messages(folder: Path, name: str, text: str) -> list[str]:
    (folder / name).write_text(text)
    return [finding.message for finding in check_file(folder, name)]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("page.md", "The report tells the time."),
        ("page.md", "| column | what it tells |\n|---|---|\n"),
        ("code.py", '"""The campaign goes on."""\n'),
        ("code.py", "x = 1  # none is known\n"),
        ("code.py", 'x = f"{y} launches of ours"\n'),
        ("code.py", 'X = 1\n"""What was measured is what is shown."""\n'),
        ("code.cpp", "int x; // a message of its own\n"),
        ("code.hpp", "/* Blocks are\n * alike. */\n"),
        ("code.c", 'puts("the library serves both");\n'),
        ("rows.def", "// handed over by the plan\n"),
        ("study.toml", 'what = "two algorithms in turn"  # x\n'),
        ("page.html.jinja", "<p>{{ n }} points are looked at</p>\n"),
        ("CMakeLists.txt", "# Built beside the library.\n"),
        ("page.md", "The neighbours share a cache."),
        ("code.py", "def test_ranks_take_part() -> None: ...\n"),
        ("code.py", "def test_a_full_disk_is_said() -> None: ...\n"),
        ("code.cpp", "TEST(ranks_take_part) {}\n"),
    ],
)
def test_an_avoided_word_is_found_once_in_each_kind_of_file(tmp_path: Path, name: str, text: str) -> None:
    assert len(messages(tmp_path, name, text)) == 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("page.md", "```\nThe report tells the time.\n```\n"),
        ("page.md", "The key `tells` is a boolean. [A link](what-it-tells.md) leads there."),
        ("page.md", "The table shows 10 launches. What does it show?"),
        ("code.py", 'told = "ours"\n'),
        ("code.py", "def test_points_of_a_race_compete() -> None: ...\n"),
        ("code.cpp", "int told = beside(x);\n"),
        ("code.cpp", 'auto plan = R"(none is told)";\n'),
        ("data.csv", "the report tells the time\n"),
    ],
)
def test_code_and_plain_sentences_pass(tmp_path: Path, name: str, text: str) -> None:
    assert messages(tmp_path, name, text) == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("page.md", LONG.replace(" and ", "\nand ", 3)),
        ("code.py", f'"""Name the parts.\n\n{LONG.replace(" and ", chr(10) + "and ", 5)}\n"""\n'),
        ("code.py", f"# {LONG[:60]}\n# {LONG[60:]}\n"),
        ("code.py", f'x = "{LONG}"\n'),
    ],
)
def test_a_sentence_over_the_limit_is_found(tmp_path: Path, name: str, text: str) -> None:
    found = [message for message in messages(tmp_path, name, text) if message.startswith("sentence of")]
    assert len(found) == 1
    assert not [
        message
        for message in messages(tmp_path, name, text.replace(" on Monday", ""))
        if message.startswith("sentence of")
    ]


def test_a_finding_names_the_line_it_stands_on(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text("A report\nof two lines,\nit tells.\n\nIt goes on.\n")
    assert [finding.line for finding in check_file(tmp_path, "page.md")] == [3, 5]


def test_a_file_that_cannot_be_read_is_a_finding(tmp_path: Path) -> None:
    assert "can't be read" in messages(tmp_path, "code.py", "def (:\n")[0]
    (tmp_path / "page.md").write_bytes(b"\xff\xfe")
    assert "can't be read" in check_file(tmp_path, "page.md")[0].message


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / "tools").mkdir()
    (tmp_path / EXCEPTIONS).write_text('[[exception]]\npath = "quoted.md"\ntext = "^tells$"\nreason = "a title"\n')
    (tmp_path / "quoted.md").write_text("It tells.\n")
    commit(tmp_path, "Start")
    return tmp_path


def commit(repository: Path, subject: str) -> None:
    for arguments in (
        ["init", "-q"],
        ["add", "."],
        ["-c", "user.name=A", "-c", "user.email=a@b.example", "commit", "-qm", subject, "--allow-empty"],
    ):
        subprocess.run(["git", *arguments], cwd=repository, check=True)


def test_a_finding_fails_and_an_exception_does_not(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check(repository) == 0
    (repository / "new.md").write_text("# Plain\n\nIt goes on.\n")
    assert check(repository) == 1
    assert "new.md:3: write continues" in capsys.readouterr().out
    (repository / "quoted.md").write_text("It goes on.\n")
    assert check(repository, ["quoted.md"]) == 1


def test_a_long_subject_of_a_new_commit_is_found(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    commit(repository, "Say " + "much " * 20)
    assert check(repository, base="HEAD~1") == 1
    assert "subject of 103 characters" in capsys.readouterr().out
    assert check(repository, base="HEAD") == 0
    assert check(repository, base="4b825dc642cb6eb9a060e54bf8d69288fbee4904") == 1  # git's empty tree
    assert check(repository, base="absent") == 2
    assert "--base absent" in capsys.readouterr().err


def test_texts_name_a_library_as_its_users_do() -> None:
    """`Open MPI 5.0.11`: before a version stands the name, not the word that `--mpi` takes."""
    word_and_version = re.compile(r"""\.(kind|provider|library)\}[ "'\n]+f?"?\{[\w.]*version\}""")
    sources = (ROOT / "src").rglob("*.py")
    assert not [path for path in sources if word_and_version.search(path.read_text())]
