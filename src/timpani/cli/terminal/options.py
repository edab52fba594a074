"""Options that several commands have."""

from enum import StrEnum
from typing import Annotated, Any

import typer

Force = Annotated[bool, typer.Option("--force", help="Overwrite a file that exists.")]


class Format(StrEnum):
    """How a command prints its result; each command supports some."""

    text = "text"
    table = "table"
    markdown = "markdown"
    osu = "osu"
    csv = "csv"
    json = "json"
    parquet = "parquet"


def format_option(help: str, *formats: Format) -> Any:
    """The option `--format` of a command; without `formats`, a table or JSON."""
    choices = formats or (Format.table, Format.json)

    def parse(text: str) -> Format:
        if text not in choices:
            raise typer.BadParameter(f"{text!r} is not one of {', '.join(map(repr, map(str, choices)))}.")
        return Format(text)

    return typer.Option(help=help, parser=parse, metavar=f"[{'|'.join(choices)}]")
