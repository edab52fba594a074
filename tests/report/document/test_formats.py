"""Each format of a document has every value, escaped, and LaTeX fits its line."""

import csv
import io
import json
import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from timpani.errors import UserError
from timpani.report.document.blocks import Bullets, Document, DrawnFigure, Heading, NextCommand, Sentence
from timpani.report.document.formats import FORMATS, FormatName, render
from timpani.report.document.latex import LINE_PT, table_width
from timpani.report.document.table import Table, Value, rows
from timpani.report.document.text import text_of
from timpani.study.sizes import show_size

TIMES = Table(
    "times",
    ("size", "default", "ring"),
    rows([(Value(8, show=show_size), Value(1.5, 1.4, 1.625, marks="n"), Value(1.25, best=True)), ("all", None, "x|y")]),
    caption="Broadcast",
    footnotes=("n: not converged.",),
    repeated=2,
)
DOCUMENT = Document(
    "A <title>",
    (
        Sentence("answer", "Fine at 3 of 4 points & more: `a_b`.", {"fine": 3}),
        Sentence("gain", "chain is faster", depth=1),
        NextCommand("next", "timpani tune", "Write rules"),
        Bullets("left-out", ("first", "second"), "Left out"),
        Heading("more", "More"),
        DrawnFigure("map", "A map", lambda: "<?xml?><svg></svg>"),
        TIMES,
    ),
)


def test_text_aligns_columns_and_marks_values() -> None:
    assert render(DOCUMENT, "text").splitlines() == [
        "Fine at 3 of 4 points & more: `a_b`.",
        "  chain is faster",
        "Write rules: timpani tune",
        "Left out:",
        "- first",
        "- second",
        "",
        "More",
        "",
        "Broadcast",
        "size  default      interval   ring",
        " 8 B   1.50 n  1.40 to 1.62  1.25*",
        " all        –                  x|y",
        "",
        "n: not converged.",
    ]


def test_html_escapes_everything_but_figures() -> None:
    page = render(DOCUMENT, "html")
    assert "<title>A &lt;title&gt;</title>" in page
    assert "points &amp; more: <code>a_b</code>." in page
    assert '<td class="best">1.25</td>' in page
    assert "<svg></svg>" in page
    assert "<?xml" not in page
    markup = "<script>alert(1)</script>"
    blocks = (Sentence("a", markup), Bullets("b", (markup,), markup), NextCommand("c", markup, markup))
    table = Table(markup, (markup,), rows([[Value(markup, detail=markup, marks=markup)]]), markup, notes=(markup,))
    assert markup not in render(Document(markup, (*blocks, Heading(markup, markup), table)), "html")


def test_json_and_csv_have_numbers_in_full() -> None:
    values = json.loads(render(DOCUMENT, "json"))
    assert values["answer"]["fine"] == 3
    assert values["times"]["rows"][0] == {
        "size": 8,
        "default": {"value": 1.5, "low": 1.4, "high": 1.625, "marks": "n"},
        "ring": {"value": 1.25, "best": True},
    }
    first, second = csv.DictReader(io.StringIO(render(DOCUMENT, "csv")))
    assert (first["table"], first["size"], first["default, high"], first["marks"]) == (
        "Broadcast",
        "8",
        "1.625",
        "default: n",
    )
    assert second["default"] == ""


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_has_every_entry(format: FormatName) -> None:
    text = str(Markup(render(DOCUMENT, format)).striptags() if format == "html" else render(DOCUMENT, format))
    for entry in ("Broadcast", "default", "ring", "1.25"):
        assert entry in text


def test_an_unknown_bound_is_a_dash_and_an_unknown_number_has_no_interval() -> None:
    assert Value(1.0, None, 2.0).annotation == "– to 2.00"
    assert Value(float("nan"), float("-inf"), float("inf")).annotation == ""
    assert Value(float("nan")).text == "–"
    assert json.loads(render(Document("", (Table("t", ("a",), rows([[float("nan")]])),)), "json"))["t"]["rows"] == [
        {"a": None}
    ]


WORDS = st.text(string.ascii_letters + string.digits + "_/:=%&#µ ", min_size=1, max_size=40)
NUMBERS = st.floats(0.001, 1e6)


@given(st.lists(st.tuples(WORDS, NUMBERS), min_size=1, max_size=24), st.booleans())
def test_a_latex_table_of_many_columns_fits_the_line(columns: list[tuple[str, float]], intervals: bool) -> None:
    entries = [Value(time, time / 2 if intervals else None, 2 * time) for _, time in columns]
    table = Table("times", ("Size", *(name for name, _ in columns)), rows([["64 KiB", *entries]]), repeated=1)
    text = render(Document("", (table,)), "latex")
    parts = table.divided(lambda part: table_width(part, r"\footnotesize") <= LINE_PT)
    assert text.count(r"\begin{tabular}") == len(parts)
    assert parts[0].columns[1] == columns[0][0]
    assert sum(len(each.columns) - 1 for each in parts) == len(columns)
    for part in parts:
        assert table_width(part, r"\footnotesize") <= LINE_PT or len(part.columns) == 2


@given(st.lists(st.tuples(WORDS, WORDS, WORDS, NUMBERS), min_size=1, max_size=5))
def test_columns_of_words_share_what_numbers_leave_of_the_line(lines: list[tuple[str, str, str, float]]) -> None:
    long = [(first * 3, second * 5, third, Value(number, number, number)) for first, second, third, number in lines]
    table = Table("words", ("a", "b", "c", "d"), rows(long))
    text = render(Document("", (table,)), "latex")
    widths = [float(width) for width in re.findall(r"p\{(\d+)pt\}", text)]
    assert sum(widths) < LINE_PT
    assert table_width(table, r"\footnotesize") <= LINE_PT or widths


@given(st.integers(20, 200))
def test_a_table_of_text_is_divided_by_the_width(width: int) -> None:
    names = [f"algorithm_{number}" for number in range(9)]
    table = Table("times", ("size", "default", *names), rows([["8 B", *range(10)]]), repeated=2)
    lines = text_of([table], width).splitlines()
    assert max(map(len, lines)) <= max(width, len("size  default  algorithm_0"))
    heads = [line.split() for line in lines[::3]]
    assert all(head[:2] == ["size", "default"] for head in heads)
    assert [name for head in heads for name in head[2:]] == names


def test_csv_of_sentences_alone_is_refused() -> None:
    with pytest.raises(UserError, match="no table here"):
        render(Document("t", (Sentence("answer", "fine"),)), "csv")
