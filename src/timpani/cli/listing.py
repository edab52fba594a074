"""`timpani list`: what can be measured here."""

import json
import os
from collections.abc import Callable
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from timpani.cli.terminal.options import Format, format_option
from timpani.errors import unknown
from timpani.libraries.available import AvailableAlgorithms, built_in_catalogue
from timpani.libraries.catalogue import Catalogue
from timpani.libraries.find import Unusable, choose_mpi, first_mpi, search_mpis, ways_to_a_library
from timpani.libraries.registry import LIBRARIES
from timpani.native.mpi import Mpi
from timpani.study.cell import COMPOSED, DEFAULT, OWN
from timpani.study.compose import shipped_studies
from timpani.study.operations import OPERATIONS


def list_(
    what: Annotated[
        str | None,
        typer.Argument(
            help="operations, collectives, algorithms, studies or mpis.",
            show_default="what can be listed",
            autocompletion=lambda incomplete: [each for each in _LISTS.items() if each[0].startswith(incomplete)],
        ),
    ] = None,
    mpi: Annotated[
        str | None,
        typer.Option(help="The library whose algorithms to list: a kind that `timpani list mpis` prints, or a path."),
    ] = None,
    format: Annotated[Format, format_option("How to print the list.")] = Format.text,
) -> None:
    """List what can be measured: operations, algorithms of the library at hand, studies."""
    lists: dict[str | None, Callable[[], list[dict[str, Any]]]] = {
        None: _overview,
        "operations": _operations,
        "collectives": lambda: [row for row in _operations() if row["kind"] == "collective"],
        "algorithms": lambda: _algorithms(mpi),
        "studies": _studies,
        "mpis": _mpis,
    }
    if what not in lists:
        raise unknown("list", str(what), _LISTS, "timpani list")
    rows = lists[what]()
    if format is Format.json:
        typer.echo(json.dumps(rows, indent=2, ensure_ascii=False))
    else:
        _print_table(_by_collective(rows) if what == "algorithms" else rows)


_LISTS = {
    "operations": "what can be measured: collectives, messages between two ranks, transposes",
    "collectives": "the collectives among the operations",
    "algorithms": "which algorithms each collective has: the library's, Timpani's and composed ones",
    "studies": "studies that Timpani ships, for `timpani run STUDY`",
    "mpis": "the MPI libraries on this computer",
}
"""Each list and what it holds."""


def _overview() -> list[dict[str, Any]]:
    return [{"command": f"timpani list {name}", "lists": holds} for name, holds in _LISTS.items()]


def _operations() -> list[dict[str, Any]]:
    return [
        {"name": each.name, "title": each.title, "kind": each.kind, "message_bytes": each.size_meaning}
        for each in OPERATIONS.values()
    ]


def _algorithms(wanted: str | None) -> list[dict[str, Any]]:
    return [
        {
            "collective": info.collective,
            "algorithm": f"{catalogue.provider}/{info.name}",
            "library": info.value,
            "aliases": list(info.aliases),
            "parameters": [f"{parameter.name}={parameter.default}" for parameter in info.parameters],
            "restrictions": str(info.restrictions),
            "source": info.source,
            "cost": info.cost,
        }
        for catalogue in _catalogues(wanted)
        for info in catalogue
    ]


def _catalogues(wanted: str | None) -> tuple[Catalogue, ...]:
    """The catalogues of the requested or first library; only Timpani's if no library is requested or found."""
    if mpi := choose_mpi(wanted) if wanted else first_mpi():
        available = AvailableAlgorithms.ask(mpi)
        if not available.collectives.algorithms:
            typer.echo(f"{mpi.title}: default only; it has no variables that select an algorithm", err=True)
        return available.catalogues
    typer.echo(
        "no MPI library can be used here, so only Timpani's algorithms are listed; see `timpani doctor`", err=True
    )
    return (built_in_catalogue(None),)


def _by_collective(algorithms: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One row for each provider and collective: the algorithms with their other names, and all parameters they know."""
    rows: dict[tuple[str, str], tuple[list[str], dict[str, None]]] = {}
    for each in algorithms:
        provider, _, name = each["algorithm"].partition("/")
        names, parameters = rows.setdefault((provider, each["collective"]), ([], {}))
        names.append(f"{name} ({', '.join(each['aliases'])})" if each["aliases"] else name)
        parameters.update(dict.fromkeys(parameter.partition("=")[0] for parameter in each["parameters"]))
    return [
        {
            "provider": provider,
            "collective": collective,
            "parameters": ", ".join(parameters),
            "algorithms": ", ".join(names if provider in (OWN, COMPOSED) else dict.fromkeys([DEFAULT, *names])),
        }
        for (provider, collective), (names, parameters) in rows.items()
    ]


def _studies() -> list[dict[str, Any]]:
    return [{"name": each.name, "title": each.title, "question": each.question} for each in shipped_studies()]


def _mpis() -> list[dict[str, Any]]:

    found = search_mpis()
    for each in found:
        if isinstance(each, Unusable):
            typer.echo(f"not usable: {each.why}; {each.fix}", err=True)
        else:
            for text in LIBRARIES[each.kind].caution(each):
                typer.echo(text, err=True)
    if not any(isinstance(each, Mpi) for each in found):
        typer.echo(f"to use one: {ways_to_a_library(os.environ)}", err=True)
    return [
        {
            "kind": mpi.kind,
            "name": mpi.name,
            "version": mpi.version,
            "based_on": str(mpi.parent) if mpi.parent else "",
            "mpirun": str(mpi.mpirun),
            "compiler": str(mpi.wrapper or ""),
        }
        for mpi in found
        if isinstance(mpi, Mpi)
    ]


def _print_table(rows: list[dict[str, Any]]) -> None:
    if not rows:
        typer.echo("nothing found; see `timpani doctor`")
        return
    *names, last = (name for name in rows[0] if any(row[name] for row in rows))
    table = Table(box=None, header_style="bold", padding=(0, 1))
    for name in names:
        table.add_column(name, overflow="fold")
    table.add_column(last, ratio=1)  # the wordy one gets what the others leave
    for row in rows:
        values = (row[name] for name in (*names, last))
        table.add_row(*(" ".join(value) if isinstance(value, list) else str(value) for value in values))
    Console().print(table)
