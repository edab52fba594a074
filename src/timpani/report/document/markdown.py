"""A document in Markdown."""

from collections.abc import Iterator, Sequence

from timpani.report.document.blocks import Block, Bullets, Document, DrawnFigure, Heading, NextCommand, Sentence
from timpani.report.document.table import Table, Value, grid


def markdown_of(document: Document) -> str:
    """The document under its title."""
    title = [f"# {document.title}\n\n"] if document.title else []
    return "".join([*title, blocks_markdown(document.blocks)])


def blocks_markdown(blocks: Sequence[Block]) -> str:
    """The blocks one under another, with an empty line between them; items of a list stand together."""
    parts: list[str] = []
    for block in blocks:
        text = "\n".join(_lines(block))
        if isinstance(block, Sentence) and block.depth and parts:
            parts[-1] += f"\n{text}"
        elif text:
            parts.append(text)
    return "\n\n".join(parts) + "\n"


def _lines(block: Block) -> Iterator[str]:
    match block:
        case Heading():
            yield f"{'#' * block.level} {block.text}"
        case Sentence():
            yield f"{'  ' * (block.depth - 1)}- {block.text}" if block.depth else block.text
        case Bullets():
            yield from (f"{block.about}:", "") if block.about else ()
            yield from (f"- {item}" for item in block.items)
        case NextCommand():
            yield from (f"{block.about}:", "") if block.about else ()
            yield from ("```", block.command, "```")
        case Table():
            yield from _table(block)
        case DrawnFigure():
            pass


def _table(table: Table) -> Iterator[str]:
    columns = [column for column in grid(table) if not column.annotation]
    if table.caption:
        yield from (f"### {table.caption}", "")
    for note in table.notes:
        yield from (note, "")
    yield _row(table.columns)
    yield f"|{'|'.join(' --- ' if column.words else ' ---: ' for column in columns)}|"
    for row in table.rows:
        yield _row([_value(value) for value in row])
    for footnote in table.footnotes:
        yield from ("", footnote)


def _value(value: Value) -> str:
    text = f"**{value.text}**" if value.best else value.text
    marks = f"<sup>{value.marks}</sup>" if value.marks else ""
    return text + marks + (f" ({value.annotation})" if value.annotation else "")


def _row(entries: Sequence[str]) -> str:
    return f"| {' | '.join(entry.replace('|', chr(92) + '|') for entry in entries)} |"
