"""`timpani verify`: are our own algorithms right?"""

from enum import StrEnum
from typing import Annotated, Any

import typer


class Format(StrEnum):
    """How the outcome is printed."""

    table = "table"
    json = "json"


def verify(
    names: Annotated[
        list[str] | None, typer.Argument(help="COLLECTIVE/ALGORITHM …, or all.", show_default=False)
    ] = None,
    ranks: Annotated[str, typer.Option(help="Every rank count from FIRST:LAST.")] = "1:64",
    count: Annotated[
        str, typer.Option(help="Elements FIRST:LAST: none, one, about as many as ranks, the last.")
    ] = "0:64",
    format: Annotated[Format, typer.Option(help="How to print the outcome.")] = Format.table,
) -> None:
    """Show that our own algorithms are right: by tracking every contribution, without MPI's help."""
    import json

    from timpani.native.build import build
    from timpani.native.find import choose_mpi
    from timpani.providers.own import own_catalogue
    from timpani.providers.verification import parse_range, resolve_names, verify_algorithms

    mpi = choose_mpi(None)
    wanted = resolve_names(names or ["all"], own_catalogue(mpi))
    rows: list[dict[str, Any]] = []
    for row in verify_algorithms(build(mpi), wanted, parse_range(ranks, 1), parse_range(count, 0)):
        rows.append(row)
        if format is Format.table:
            outcome = row.get("mistake", "right")
            name = f"{row['collective']}/{row['algorithm']}"
            typer.echo(f"{name:<40} {row['checked']:>7} cases  {row['seconds']:6.1f} s  {outcome}")
    wrong = sum("mistake" in row for row in rows)
    if format is Format.json:
        typer.echo(json.dumps(rows, indent=2, ensure_ascii=False))
    else:
        checked = sum(row["checked"] for row in rows)
        typer.echo(f"{len(rows)} algorithms at {checked} cases: {f'{wrong} wrong' if wrong else 'all right'}")
    raise typer.Exit(1 if wrong else 0)
