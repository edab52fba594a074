"""Blocks as HTML, and a document as a page that needs nothing but itself. Everything in it is escaped."""

import re
from collections.abc import Sequence

from markupsafe import Markup, escape

from timpani.report.document.blocks import (
    Block,
    Bullets,
    Document,
    DrawnFigure,
    Heading,
    NextCommand,
    Sentence,
    Table,
    Value,
    grid,
)

_MAX_COLUMNS = 7
"""Columns of a table on a page, with that of the heads: wider ones are divided where they may be."""

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; font-size: .9rem; margin: 1rem 0; }
th, td { padding: .2rem .7rem; text-align: right; vertical-align: top; }
caption, tbody th, .words { text-align: left; }
thead th { border-bottom: 1px solid; }
td.best { font-weight: 700; }
td small { display: block; font-weight: normal; }
.wordy td { text-align: left; }
.depth-1 { margin-left: 1.2rem; }
.depth-2 { margin-left: 2.4rem; }
svg { max-width: 100%; height: auto; }
"""


def html_page(document: Document) -> str:
    """The document as a whole page."""
    return Markup(
        '<!doctype html>\n<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        "<title>{title}</title><style>{style}</style>\n<h1>{title}</h1>\n{body}</html>\n"
    ).format(title=document.title, style=Markup(_STYLE), body=html_of(document.blocks))  # noqa: S704 a constant


def html_of(blocks: Sequence[Block]) -> Markup:
    """The blocks one under another."""
    return Markup("").join(map(block_html, blocks))


def block_html(block: Block) -> Markup:
    """A block with a line break behind it."""
    match block:
        case Heading():
            return Markup('<h{0} id="{1}">{2}</h{0}>\n').format(block.level, block.name, block.text)
        case Sentence():
            depth = f" depth-{block.depth}" if block.depth else ""
            return Markup('<p class="{}{}">{}</p>\n').format(block.name, depth, with_code(block.text))
        case Bullets():
            about = Markup("<p>{}:</p>\n").format(with_code(block.about)) if block.about else ""
            items = Markup("").join(Markup("<li>{}</li>").format(with_code(item)) for item in block.items)
            return Markup("{}<ul>{}</ul>\n").format(about, items)
        case NextCommand():
            about = f"{block.about}: " if block.about else ""
            return Markup("<p>{}<code>{}</code></p>\n").format(about, block.command)
        case Table():
            return Markup("").join(map(table_html, block.divided(lambda part: len(part.columns) <= _MAX_COLUMNS)))
        case DrawnFigure():
            svg = block.svg()
            drawn = Markup(svg[svg.index("<svg") :])  # noqa: S704 Vega escapes the texts in it
            return Markup("<figure><figcaption>{}</figcaption>{}</figure>\n").format(block.title, drawn)


def table_html(table: Table) -> Markup:
    """The table between its notes and its footnotes."""
    columns = [column for column in grid(table) if not column.annotation]
    words = [Markup(' class="words"') if column.words else "" for column in columns]
    heads = (
        Markup('<th scope="col"{}>{}</th>').format(of_words, breakable(column.title))
        for of_words, column in zip(words, columns, strict=True)
    )
    rows = (
        Markup('<tr><th scope="row">{}</th>{}</tr>\n').format(
            first.text,
            Markup("").join(map(_value, others, words[1:])),
        )
        for first, *others in table.rows
    )
    return Markup(
        "{notes}<table{wordy}>{caption}\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}</tbody></table>\n{footnotes}"
    ).format(
        notes=_key(table.notes),
        wordy=Markup(' class="wordy"') if table.wraps else "",
        caption=Markup("<caption>{}</caption>").format(table.caption) if table.caption else "",
        heads=Markup("").join(heads),
        rows=Markup("").join(rows),
        footnotes=_key(table.footnotes),
    )


def _key(sentences: Sequence[str]) -> Markup:
    return Markup("").join(Markup('<p class="key">{}</p>\n').format(with_code(each)) for each in sentences)


def _value(value: Value, words: str) -> Markup:
    return Markup("<td{}>{}{}{}</td>").format(
        Markup(' class="best"') if value.best else words,
        breakable(value.text),
        Markup("<sup>{}</sup>").format(value.marks) if value.marks else "",
        Markup("<small>{}</small>").format(value.annotation) if value.annotation else "",
    )


def with_code(text: str) -> Markup:
    """The text with what stands between backticks as code; markup stays."""
    parts = text.split("`")
    if len(parts) % 2 == 0 or isinstance(text, Markup):
        return escape(text)
    return Markup("").join(Markup("<code>{}</code>").format(part) if i % 2 else part for i, part in enumerate(parts))


def breakable(text: str) -> Markup:
    """A name that may be broken behind its slashes, underscores, colons and commas."""
    return Markup("<wbr>").join(re.split(r"(?<=[/_:,])", text))
