"""`timpani verify`: are Timpani's algorithms right?"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from timpani.cli.terminal.completing import complete_own_algorithm
from timpani.cli.terminal.options import Format, format_option
from timpani.errors import UserError
from timpani.study.words import counted

if TYPE_CHECKING:
    from timpani.libraries.catalogue import Catalogue
    from timpani.providers.verification import Range


def verify(
    names: Annotated[
        list[str] | None, typer.Argument(help="COLLECTIVE/ALGORITHM …, or all.", autocompletion=complete_own_algorithm)
    ] = None,
    ranks: Annotated[str, typer.Option(help="Every rank count from FIRST:LAST.")] = "1:64",
    count: Annotated[
        str, typer.Option(help="Element counts from FIRST:LAST: 0, 1, some near the rank count, and LAST.")
    ] = "0:64",
    budget: Annotated[str, typer.Option(help="Refuse what is expected to take longer: 90s, 10m, 2h.")] = "1h",
    format: Annotated[Format, format_option("How to print the outcome.")] = Format.table,
) -> None:
    """Prove that Timpani's algorithms are right, by tracking every contribution, without MPI."""
    import json

    from timpani.cli.terminal.share_bar import share_bar
    from timpani.libraries.find import first_mpi
    from timpani.native.build import build_without_mpi
    from timpani.providers.own import read_own_catalogue
    from timpani.providers.verification import parse_range, resolve_names, verify_algorithms
    from timpani.study.values import parse_duration

    programs = build_without_mpi(first_mpi())
    own = read_own_catalogue(programs)
    wanted = resolve_names(names or ["all"], own)
    rank_range, count_range = parse_range(ranks, 1), parse_range(count, 0)
    longest = parse_duration(budget)
    _check_cost(programs, wanted, own, rank_range, count_range, longest)
    rows: list[dict[str, Any]] = []
    with share_bar("verifying") as passed:
        for row in verify_algorithms(programs, wanted, rank_range, count_range, passed):
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
        outcome = f"{wrong} wrong" if wrong else "all right"
        typer.echo(f"{counted(len(rows), 'algorithm')} at {counted(checked, 'case')}: {outcome}")
    raise typer.Exit(1 if wrong else 0)


def _check_cost(
    programs: Path, names: list[str], own: "Catalogue", ranks: "Range", counts: "Range", longest: float
) -> None:
    """Refuses what would take too long or too much memory, and prints how long the rest takes."""
    from timpani.providers.verification_cost import TRIAL_RANKS, available_memory, estimate
    from timpani.study.words import show_seconds

    if max(ranks[1], counts[1]) <= TRIAL_RANKS:
        return
    memory = available_memory()
    cost = estimate(programs, names, own, ranks, counts, longest, memory)
    expected = f"about {show_seconds(cost.seconds)} and {cost.memory_bytes / 1e9:,.1f} GB of memory"
    if cost.seconds > longest or cost.memory_bytes > memory:
        fitting = f"try --ranks {ranks[0]}:{cost.most_ranks}" if cost.most_ranks else "try fewer ranks or elements"
        longer = ", or give it longer (--budget)" if cost.memory_bytes <= memory else ""
        raise UserError(
            f"verifying {counted(len(names), 'algorithm')} at {ranks[0]}:{ranks[1]} ranks would take {expected}",
            f"{fitting}, or fewer algorithms{longer}",
        )
    typer.echo(expected, err=True)
