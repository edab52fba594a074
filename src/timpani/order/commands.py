"""`timpani order`: the order in which reductions add."""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from timpani.campaign.plan.plan import CampaignPlan
from timpani.campaign.run.session import Session
from timpani.campaign.run.start import Starter
from timpani.cli.terminal.completing import complete_collective
from timpani.cli.terminal.options import (
    Force,
    Format,
    StudyOptions,
    Trust,
    document_format,
    document_text,
    expand,
    on_option,
    output_option,
    study_options,
)
from timpani.errors import UserError
from timpani.machine.detect import resolve
from timpani.native.build import build
from timpani.native.held_folder import remove_temporaries, temporary
from timpani.order.document import order_document, order_objects
from timpani.order.naming import Schedules
from timpani.order.reading import (
    DATATYPE,
    OPERATOR,
    Reading,
    expected_calls,
    expected_seconds,
    read_start,
    starts_to_read,
)
from timpani.order.tree import MAX_RANKS
from timpani.report.document.formats import blocks_object, json_text
from timpani.report.document.output_files import check_new, write_file
from timpani.study.cell import Cell
from timpani.study.compose import compose, operation_names
from timpani.study.keys import WHERE
from timpani.study.operations import OPERATIONS
from timpani.study.study import Study
from timpani.study.words import counted, show_seconds

SIZES = "8,1Ki,64Ki"

_KIND = "orders"
"""What temporary folders are for."""

EXAMPLES = """Examples:

timpani order allreduce reduce --ranks 2:16 --sizes 8,64Ki

timpani order allreduce --algorithms default,ring --ranks 8 -o order.svg"""


@dataclass(frozen=True)
class _Place:
    """Where to read, and with which library. Ranks may share cores: nothing is timed."""

    on: Annotated[str | None, on_option("this computer", WHERE)] = None
    trust: Trust = None
    mpi: Annotated[
        str | None,
        typer.Option(help="openmpi, mpich, intel, or a path (`timpani list mpis`).", show_default="the first found"),
    ] = None


@expand(
    study=study_options(("algorithms", "ranks", "sizes", "operator", "placement"), shown={"sizes": SIZES}), place=_Place
)
def order(
    *,
    what: Annotated[
        list[str], typer.Argument(help="Reductions: allreduce reduce scan …", autocompletion=complete_collective)
    ],
    output: Annotated[Path | None, output_option("A new .svg file: draw all orders.")] = None,
    study: StudyOptions,
    place: _Place,
    format: Annotated[Format, document_format("How to print the orders.")] = Format.text,
    force: Force = False,
) -> None:
    """Read the order in which reductions add, and say what their results depend on."""
    if output and output.suffix != ".svg":
        raise UserError(f"{output} is no drawing", "name a file that ends with .svg")
    if output:
        check_new(output, force)
    planned = order_study(what, study.given())
    session = Session.prepare(planned, place.mpi, True, resolve(place.on, place.mpi) if place.on else None)
    if len({each.placement for each in session.plan.groups}) > 1 and not session.plan.hosts:
        raise UserError(
            "every placement is on this computer, where the order is the same", "name several computers with --on"
        )
    calls, seconds = cost(session.plan)
    about = f"reading takes {counted(calls, 'call')}, about {show_seconds(seconds)}"
    for line in (*(each.note for each in session.plan.skipped), about):
        typer.echo(line, err=True)
    readings = read_orders(session, lambda text: typer.echo(text, err=True))
    if not readings:
        raise UserError("no order was read", "the lines above say why")
    names = Schedules.of_programs(session.plan.mpi).names
    document = order_document(readings, names)
    if output:
        write_file(output, document["trees"].svg().encode(), force)
    if format is Format.json:
        found = {"title": document.title, **blocks_object(document.blocks), "readings": order_objects(readings, names)}
        typer.echo(json_text(found), nl=False)
    else:
        typer.echo(document_text(document, format), nl=False)


def order_study(what: Sequence[str], options: Mapping[str, Any]) -> Study:
    """The study whose cells are read; UserError where nothing is added in an order, or it can't be read."""
    names = operation_names(what)
    given = {"sizes": SIZES, **options, "datatype": DATATYPE, "launches": 1}
    study = compose(names, given)
    for name in names:
        if OPERATIONS[name].kind != "collective" or not OPERATIONS[name].reduces:
            reductions = ", ".join(each for each, of in OPERATIONS.items() if of.reduces)
            raise UserError(f"{name} adds nothing", f"name a reduction: {reductions}")
    if study.operator != OPERATOR:
        raise UserError(f"no order shows in results of {study.operator}", f"leave out --operator {study.operator}")
    if 0 in study.sizes:
        raise UserError("vectors of 0 B hold nothing to add", "choose sizes of 8 B or more: --sizes 8,64Ki")
    if min(study.ranks) < 2:
        raise UserError("one rank adds nothing", "choose two ranks or more: --ranks 2:16")
    if max(study.ranks) > MAX_RANKS:
        raise UserError(f"{max(study.ranks)} ranks have too many pairs to read", f"choose at most {MAX_RANKS} ranks")
    return study


def _is_default(cell: Cell) -> bool:
    return cell.algorithm.is_default


def cost(plan: CampaignPlan, again: Callable[[Cell], bool] = _is_default) -> tuple[int, float]:
    """The calls that `read_orders` makes, and about how many seconds they take."""
    parts = list(starts_to_read(plan, again))
    calls = sum(expected_calls(each.cell) for part in parts for each in part.cells)
    return calls, sum(map(expected_seconds, parts))


def read_orders(
    session: Session, note: Callable[[str], None], again: Callable[[Cell], bool] = _is_default
) -> list[Reading]:
    """All cells of a plan, and in further starts those to read `again`, as `starts_to_read` has them.

    Its folder is in the current one where ranks may run on other computers, which read the plan there.
    """
    remove_temporaries(_KIND)
    with ExitStack() as stack:
        if session.plan.hosts:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="timpani-order-", dir=Path.cwd())))
        else:
            folder, _ = stack.enter_context(temporary(_KIND))
        store = stack.enter_context(session.open(folder / "calls"))
        starter = Starter(session.plan, store, build, lambda: False, note)
        parts = enumerate(starts_to_read(session.plan, again), 1)
        return [each for number, part in parts for each in read_start(starter, part, number)]
