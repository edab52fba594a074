"""What the forms of `timpani show` share."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from timpani.cli.terminal.options import Format, document_format
from timpani.report.words.output_files import write_file

ShownFormat = Annotated[
    Format,
    document_format(
        "latex is for the package booktabs; csv, json and parquet have the columns of docs/reference.md.",
        Format.osu,
        Format.parquet,
    ),
]
ShownOutput = Annotated[Path | None, typer.Option("--output", "-o", help="Write into this file.")]


def print_or_write(content: bytes, output: Path | None, force: bool) -> None:
    """Print what is shown, or write it into the file that was typed."""
    if output is None:
        sys.stdout.buffer.write(content)
    else:
        write_file(output, content, force)
