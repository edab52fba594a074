"""A command line that can't be used gets one line, for every command."""

import re
import signal
import subprocess
import sys
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import typer
from rich.text import Text
from tools.command_reference import commands

from tests.campaign_files import cells, results_of, write_campaign
from tests.cli.typed import typed
from tests.installed import needs_compiler
from timpani.cli import app
from timpani.native.mpi import version_numbers
from timpani.version import __version__

WORDS_FOR_TYPES = version_numbers(version("typer")) >= (0, 29)
"""Whether values stand in Timpani's words: older versions of typer use others."""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("hostfile --category 9", "invalid value for '--category': 9" + "; write 3 or less" * WORDS_FOR_TYPES),
        ("completion tcsh", "invalid value for 'SHELL': 'tcsh' is not one of 'bash', 'zsh', 'fish'; `timpani"),
        pytest.param(
            "draw bcast/knomial -o a.txt",
            "unknown kind of file 'txt'; write svg, png, pdf or json",
            marks=needs_compiler,
        ),
        (
            "machine detect --partitoin x",
            "no such option: --partitoin" if WORDS_FOR_TYPES else "no such option '--partitoin'",
        ),
        ("help shwo", "no such command 'shwo'; did you mean 'show'?"),
        ("list algoritms", "unknown list 'algoritms'; did you mean algorithms?"),
    ],
)
def test_it_is_one_line_and_status_2(words: str, said: str) -> None:
    done = typed(*words.split())
    assert (done.returncode, done.stdout) == (2, "")
    [line] = done.stderr.splitlines()
    assert line.startswith("timpani: ")
    assert said in line


@pytest.mark.parametrize(
    ("words", "after"),
    [
        (("run", "bcast", "-o", ""), "-o"),
        (("run", "bcast", "--on", ""), "--on"),
        (("show", ""), "show"),
    ],
)
def test_an_empty_value_is_refused(words: tuple[str, ...], after: str, tmp_path: Path) -> None:
    done = typed(*words, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"timpani: the value after {after} is empty; give a value, or leave it out\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", ["show NAME", "tune NAME -o new", "run bcast --on simgrid:NAME --dry-run"])
def test_a_name_that_no_file_may_have_is_one_line(words: str) -> None:
    done = typed(*words.replace("NAME", "x" * 3000).split())
    assert (done.returncode, done.stdout) == (2, "")
    [line] = done.stderr.splitlines()
    assert "can't be reached (File name too long); name a place that you may use" in line
    assert len(line) < 1300


@pytest.mark.parametrize(
    ("words", "status"), [("", 2), ("lab", 2), ("--help", 0), ("lab up --help", 0), ("help", 0), ("help lab up", 0)]
)
def test_help_stays_a_page(words: str, status: int) -> None:
    done = typed(*words.split())
    assert (done.returncode, done.stderr) == (status, "")
    assert "Usage: timpani" in done.stdout


LOSING_PROGRAM = """
from timpani.cli import commands, main
class Loser:
    def __del__(self):
        raise KeyboardInterrupt
def lose():
    Loser()
    print("continued")
commands.help_ = lose
main()
"""


def test_an_interrupt_ends_the_command_even_if_a_library_swallows_the_exception() -> None:
    argv = [sys.executable, "-c", LOSING_PROGRAM, "help"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "")


WHOLE: Any = typer.main.get_command(app)
PAGES = {each.name: each for each in commands(WHOLE, "timpani")}
GROUPS = ("", "lab", "machine")


@pytest.mark.parametrize("words", [*(name.partition(" ")[2] for name in PAGES), *GROUPS])
def test_a_help_page_fits_80_columns_in_plain_words(words: str) -> None:
    page = typed(*words.split(), "--help", columns=80).stdout
    assert [line for line in page.splitlines() if len(line) > 80] == []
    known = PAGES.get(f"timpani {words}")
    options = [each for each in known.parameters if not each.is_argument] if known else []
    assert [names for names in (max(each.names, key=len) for each in options) if names not in page] == []
    if WORDS_FOR_TYPES:
        assert not re.search(r"<[a-z ]+>|range>|list\[|\{\w|x<=|x>=", page)
    usage = page.partition("╭")[0].partition("Usage:")[2].split("\n")[0]
    assert usage.count("[") == usage.count("]") > 0
    described = [line.strip() for line in page.partition("╭")[0].splitlines()]
    for line, following in pairwise(described):  # paragraphs break only at the width
        if line and following:
            assert len(f" {line} {following.split()[0]}") > 79, line


def test_no_word_of_a_help_is_taken_as_markup() -> None:
    texts = [each.help for command in PAGES.values() for each in command.parameters]
    assert [text for text in texts if Text.from_markup(text).plain != text] == []


def test_the_list_of_commands_loads_none_and_shows_what_they_say() -> None:
    """By panels; the program that lists them has loaded none of what measures and draws."""
    code = (
        "import sys; from timpani.cli import main\n"
        "try: main()\n"
        "except SystemExit: print([name for name in ('pydantic', 'polars', 'numpy', 'altair') if name in sys.modules])"
    )
    command = [sys.executable, "-c", code, "--help"]
    page = subprocess.run(command, capture_output=True, text=True, check=True, env={"COLUMNS": "200"}).stdout
    assert page.splitlines()[-1] == "[]"
    panels = ["Measure", "Read what was measured", "Tune a library", "Replace the", "Verify, draw", "Clusters", "About"]
    places = [page.index(f"╭─ {panel}") for panel in panels]
    assert places == sorted(places)
    assert "╭─ Commands" not in page
    assert places[1] < page.index("│ verdict ") < places[2] < page.index("│ tune ") < places[3]
    assert places[-1] < page.index("│ help ")
    for name, each in PAGES.items():
        if name.count(" ") == 1 and name != "timpani tune":
            assert re.search(rf"│ {name.partition(' ')[2]} +{re.escape(each.summary[:60])}", page), name


def test_compiling_needs_a_command() -> None:
    done = typed("--compile")
    assert done.returncode == 2
    assert done.stderr == "timpani: --compile compiles what a command needs; name one: timpani --compile run bcast\n"


@pytest.mark.parametrize("words", ["-V", "--version"])
def test_the_version_is_printed(words: str) -> None:
    assert typed(words).stdout == f"timpani {__version__}\n"


def test_most_commands_load_without_the_packages_that_draw() -> None:
    code = (
        "import sys; sys.modules |= dict.fromkeys(('altair', 'vl_convert'))\n"
        "import typer; from timpani.cli import app\n"
        "for name, command in typer.main.get_command(app).commands.items():\n"
        "    try: command.load()\n"
        "    except ModuleNotFoundError: print(name)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) <= {"draw", "report", "study"}


@pytest.mark.parametrize(("words", "drawn"), [("verdict c", False), ("show c", False), ("report c -o c.html", True)])
def test_only_what_draws_needs_the_packages_that_draw(words: str, drawn: bool, tmp_path: Path) -> None:
    write_campaign(tmp_path / "c", results_of(cells({"default": {8: 10.0}, "ring": {8: 5.0}})))
    without = "import sys; sys.modules |= dict.fromkeys(('altair', 'vl_convert')); from timpani.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", without, *words.split()], cwd=tmp_path, check=False, capture_output=True, text=True
    )
    if drawn:
        assert (done.returncode, done.stdout) == (2, "")
        assert re.match(r"timpani: this command draws, and (altair|vl_convert) is not installed; `pip in", done.stderr)
    else:
        assert (done.returncode, done.stderr) == (0, "")
