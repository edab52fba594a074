"""Help fits a terminal of 80 columns."""

from itertools import pairwise
from typing import Any

import pytest
import typer
from rich.text import Text
from tools.command_reference import commands

from tests.cli.typed import typed
from timpani.cli import app

COLUMNS = 80


def names() -> list[list[str]]:
    whole: Any = typer.main.get_command(app)
    return [[], *(each.name.split()[1:] for each in commands(whole, "timpani"))]


def options(words: list[str]) -> list[str]:
    """The longest name of each option: a page that cuts names off lacks it."""
    whole: Any = typer.main.get_command(app)
    found = {each.name: each.parameters for each in commands(whole, "timpani")}
    parameters = found.get(" ".join(["timpani", *words]), [])
    return [max(each.names, key=len) for each in parameters if not each.is_argument]


@pytest.mark.parametrize("words", names(), ids=" ".join)
def test_help_fits_80_columns(words: list[str]) -> None:
    done = typed(*words, "--help", columns=COLUMNS)
    assert done.returncode == 0
    assert [line for line in done.stdout.splitlines() if len(line) > COLUMNS] == []
    assert [name for name in options(words) if name not in done.stdout] == []


@pytest.mark.parametrize("words", names(), ids=" ".join)
def test_each_bracket_of_a_usage_line_has_its_partner(words: list[str]) -> None:
    usage = typed(*words, "--help", columns=COLUMNS).stdout.partition("╭")[0].partition("Usage:")[2].split("\n")[0]
    assert usage.count("[") == usage.count("]") > 0


def test_paragraphs_of_a_help_page_break_only_at_its_width() -> None:
    lines = typed("confirm", "--help", columns=COLUMNS).stdout.splitlines()
    described = [line.strip() for line in lines[: lines.index(next(line for line in lines if line.startswith("╭")))]]
    for line, following in pairwise(described):
        if line and following:
            assert len(f" {line} {following.split()[0]}") > COLUMNS - 1, line


def test_no_word_of_a_help_is_taken_as_markup() -> None:
    whole: Any = typer.main.get_command(app)
    texts = [each.help for command in commands(whole, "timpani") for each in command.parameters]
    assert [text for text in texts if Text.from_markup(text).plain != text] == []


@pytest.mark.parametrize("words", names(), ids=" ".join)
def test_help_names_limits_in_words(words: list[str]) -> None:
    page = typed(*words, "--help", columns=COLUMNS).stdout
    assert "x<=" not in page
    assert "x>=" not in page


def test_help_says_between_which_numbers_a_value_lies() -> None:
    assert "1 to 250." in typed("lab", "up", "--help", columns=COLUMNS).stdout
    assert "0.001 or more." in typed("fit", "--help", columns=COLUMNS).stdout


def test_the_command_that_runs_without_a_word_is_called_by_its_group() -> None:
    assert ["tune"] in names()
    assert ["tune", "files"] not in names()
