"""A document as plain text, for a terminal."""

from collections.abc import Iterator, Sequence
from functools import partial

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

_INDENT = "  "


def text_of(blocks: Sequence[Block], width: int | None = None) -> str:
    """The blocks as lines; a table that may be divided is, where it is wider than `width` characters."""
    parts: list[str] = []
    for before, block in zip([None, *blocks], blocks, strict=False):
        if isinstance(block, DrawnFigure):
            continue
        apart = isinstance(block, Table | Heading) or isinstance(before, Table)
        parts += [""] if apart and parts and not isinstance(before, Heading) else []
        parts += lines_of(block, width)
    return "".join(f"{line}\n" for line in parts)


def lines_of(block: Block, width: int | None = None) -> list[str]:
    """A block as lines."""
    match block:
        case Heading():
            return [block.text]
        case Sentence():
            return [_INDENT * block.depth + block.text]
        case Bullets():
            if block.about and len(block.items) == 1:
                return [f"{block.about}: {block.items[0]}"]
            return [*([f"{block.about}:"] if block.about else []), *(f"- {item}" for item in block.items)]
        case NextCommand():
            about = f"{block.about}: " if block.about else ""
            return [_INDENT * block.depth + about + block.command]
        case Table():
            parts = block.divided(partial(_fits, width=width))
            return "\n\n".join("\n".join(_table(part)) for part in parts).split("\n")
        case DrawnFigure():
            return []


def _fits(table: Table, width: int | None) -> bool:
    return width is None or max(map(len, _grid_lines(table))) <= width


def _table(table: Table) -> list[str]:
    footnotes = ["", *table.footnotes] if table.footnotes else []
    return [*filter(None, (table.caption, *table.notes)), *_grid_lines(table), *footnotes]


def _grid_lines(table: Table) -> list[str]:
    columns = grid(table)
    rows = [
        [column.title for column in columns],
        *([column.marked(row, "{}*", " {}") for column in columns] for row in table.rows),
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            text.ljust(width) if column.words else text.rjust(width)
            for text, width, column in zip(row, widths, columns, strict=True)
        ).rstrip()
        for row in rows
    ]


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a table of texts, the headings first."""
    return _grid_lines(Table.of_texts(rows) or Table("", tuple(rows[0]), ()))


def markdown_of(document: Document) -> str:
    """The document under its title."""
    title = [f"# {document.title}\n\n"] if document.title else []
    return "".join([*title, blocks_markdown(document.blocks)])


def blocks_markdown(blocks: Sequence[Block]) -> str:
    """The blocks one under another, with an empty line between them; items of a list stand together."""
    parts: list[str] = []
    for block in blocks:
        text = "\n".join(_markdown_lines(block))
        if isinstance(block, Sentence) and block.depth and parts:
            parts[-1] += f"\n{text}"
        elif text:
            parts.append(text)
    return "\n\n".join(parts) + "\n"


def _markdown_lines(block: Block) -> Iterator[str]:
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
            yield from _markdown_table(block)
        case DrawnFigure():
            pass


def _markdown_table(table: Table) -> Iterator[str]:
    columns = [column for column in grid(table) if not column.annotation]
    if table.caption:
        yield from (f"### {table.caption}", "")
    for note in table.notes:
        yield from (note, "")
    yield _markdown_row(table.columns)
    yield f"|{'|'.join(' --- ' if column.words else ' ---: ' for column in columns)}|"
    for row in table.rows:
        yield _markdown_row([_markdown_value(value) for value in row])
    for footnote in table.footnotes:
        yield from ("", footnote)


def _markdown_value(value: Value) -> str:
    text = f"**{value.text}**" if value.best else value.text
    marks = f"<sup>{value.marks}</sup>" if value.marks else ""
    return text + marks + (f" ({value.annotation})" if value.annotation else "")


def _markdown_row(entries: Sequence[str]) -> str:
    return f"| {' | '.join(entry.replace('|', chr(92) + '|') for entry in entries)} |"
