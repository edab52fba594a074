"""Each format of a document has every value, escaped, and LaTeX fits its line."""

import csv
import io
import json

import pytest
from markupsafe import Markup

from timpani.errors import UserError
from timpani.report.document.blocks import (
    Bullets,
    Document,
    DrawnFigure,
    Heading,
    NextCommand,
    Sentence,
    Table,
    Value,
    rows,
)
from timpani.report.document.formats import FORMATS, FormatName, render
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
    unknown = Document("", (Table("t", ("a",), rows([[Value(float("nan"), 1.0, float("inf"))]])),))
    assert render(unknown, "csv").splitlines() == ['table,a,"a, low","a, high"', "t,,1.0,"]
    assert json.loads(render(Document("", (Table("t", ("a",), rows([[float("nan")]])),)), "json"))["t"]["rows"] == [
        {"a": None}
    ]


def test_csv_of_sentences_alone_is_refused() -> None:
    with pytest.raises(UserError, match="no table here"):
        render(Document("t", (Sentence("answer", "fine"),)), "csv")
