"""The subcommands `verify`, `predict` and `prove`."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from timpani.campaign.folder.header import read_header
from timpani.campaign.folder.load import Campaign, load_one_machine, read_proofs
from timpani.campaign.read.campaign_warnings import without_effect
from timpani.cli.terminal.completing import complete_campaign, complete_collective, complete_own_algorithm
from timpani.cli.terminal.forms import Form, options_of, run_form
from timpani.cli.terminal.options import (
    Force,
    Format,
    campaign_argument,
    document_format,
    document_text,
    expand,
    format_option,
    output_option,
)
from timpani.cli.terminal.progress import share_bar
from timpani.errors import UserError
from timpani.libraries.catalogue import Catalogue
from timpani.libraries.find import first_mpi
from timpani.machine.detect import resolve
from timpani.machine.nodes.model import Machine
from timpani.native.build import build_without_mpi
from timpani.report.document.blocks import Document
from timpani.report.document.formats import json_text
from timpani.schedules.algorithms.fingerprint import Fingerprints, named_proofs, proof_document
from timpani.schedules.algorithms.simulation import Simulator
from timpani.schedules.algorithms.verification import (
    TRIAL_RANKS,
    Range,
    available_memory,
    estimate,
    own_catalogue,
    parse_range,
    read_own_catalogue,
    resolve_names,
    verify_algorithms,
    with_own_counts,
)
from timpani.schedules.predict.backtest import backtest, backtest_document, measurements
from timpani.schedules.predict.calibration import Announce, Calibration, require_calibration
from timpani.schedules.predict.known_schedules import library_algorithms
from timpani.schedules.predict.output import check_new, predicted_document, predicted_object, write_predicted
from timpani.schedules.predict.predictions import predict_request
from timpani.schedules.predict.request import Limits, Plan, Request
from timpani.schedules.predict.selected_algorithms import (
    missing_algorithms,
    names_library_algorithms,
    select_library_algorithms,
    select_timpani_algorithms,
)
from timpani.slices import Hook
from timpani.study.cell import check_placement
from timpani.study.sizes import RANK_COUNT, parse_sizes
from timpani.study.values import parse_duration
from timpani.study.words import counted, show_seconds


@dataclass(frozen=True)
class PreparedRequest:
    """left_out: a sentence for each named algorithm that can't be predicted."""

    simulator: Simulator
    calibration: Calibration
    request: Request
    left_out: tuple[str, ...]

    def plan(self, limits: Limits, passed: Callable[[float], None]) -> Plan:
        """The calls to simulate within `limits`; `passed` receives the share of each estimate, 0 to 1."""
        plan = self.request.plan(self.simulator, self.calibration.models, limits, passed)
        plan.left_out.extend(self.left_out)
        return plan


def prepare(
    campaigns: Sequence[Campaign],
    collectives: list[str],
    algorithms: str,
    ranks: str,
    sizes: str,
    machine: Machine | None,
    placement: str,
    announce: Announce,
) -> PreparedRequest:
    """The request for `algorithms` of `collectives`, with costs from `campaigns`.

    machine  the machine to predict. None: the first campaign's machine if it has several nodes, otherwise ranks as
             close as the measured ones
    announce  receives, before it starts, what will take long

    UserError for invalid options, and if the campaigns give no costs
    """
    rank_counts, message_sizes = parse_sizes(ranks, RANK_COUNT), parse_sizes(sizes)
    if min(rank_counts) < 1:
        raise UserError("a call has 1 rank or more, not 0", "write for example --ranks 64,1Ki")
    placement = check_placement(placement)
    mpi = first_mpi()
    simulator, own = Simulator(build_without_mpi(mpi)), own_catalogue(mpi)
    named = select_timpani_algorithms(collectives, algorithms, own)  # rejects bad names before the slow steps
    calibration = require_calibration(simulator, campaigns, announce)
    library, others = (
        library_algorithms(campaigns, collectives, message_sizes, own, simulator, calibration)
        if names_library_algorithms(algorithms)
        else ([], [])
    )
    named += select_library_algorithms(algorithms, library, others)
    request = Request(named, rank_counts, message_sizes, machine or _measured_machine(campaigns[0]), placement)
    left_out = tuple(map(str, (*missing_algorithms(collectives, algorithms, own), *others)))
    return PreparedRequest(simulator, calibration, request, left_out)


def _measured_machine(campaign: Campaign) -> Machine | None:
    """The campaign's machine if it has several nodes."""
    machine = campaign.header.machine.cluster
    several = machine is not None and sum(len(group.nodes) for group in machine.groups) > 1
    return machine if several else None


def verify(
    names: Annotated[
        list[str] | None, typer.Argument(help="COLLECTIVE/ALGORITHM …, or all.", autocompletion=complete_own_algorithm)
    ] = None,
    ranks: Annotated[str, typer.Option(help="Every rank count from FIRST:LAST.")] = "1:64",
    count: Annotated[
        str, typer.Option(help="Element counts from FIRST:LAST: 0, 1, some near the rank count, and LAST.")
    ] = "0:64",
    budget: Annotated[str, typer.Option(help="Refuse what is expected to take longer: 90s, 10m, 2h.")] = "1h",
    format: Annotated[Format, format_option("How to print the outcome.")] = Format.text,
) -> None:
    """Prove that Timpani's algorithms are right, by tracking every contribution, without MPI."""
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
            if format is Format.text:
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
        if unchecked := with_own_counts(wanted, own):
            typer.echo(f"not checked: {', '.join(unchecked)}, where ranks have different counts")
    raise typer.Exit(1 if wrong else 0)


def _check_cost(programs: Path, names: list[str], own: Catalogue, ranks: Range, counts: Range, longest: float) -> None:
    """Refuses what would take too long or too much memory."""
    if max(ranks[1], counts[1]) <= TRIAL_RANKS:
        return
    memory = available_memory()
    cost = estimate(programs, names, own, ranks, counts, longest, memory)
    if cost.seconds > longest or cost.memory_bytes > memory:
        fitting = f"try --ranks {ranks[0]}:{cost.most_ranks}" if cost.most_ranks else "try fewer ranks or elements"
        longer = ", or give it longer (--budget)" if cost.memory_bytes <= memory else ""
        expected = f"about {show_seconds(cost.seconds)} and {cost.memory_bytes / 1e9:,.1f} GB of memory"
        raise UserError(
            f"verifying {counted(len(names), 'algorithm')} at {ranks[0]}:{ranks[1]} ranks would take {expected}",
            f"{fitting}, or fewer algorithms{longer}",
        )


_ANNOUNCED_SECONDS = 10
"""A longer prediction prints its expected time before it starts."""

_Costs = Annotated[
    list[Path] | None,
    typer.Option(
        help="A campaign to estimate the costs from; repeat the option for several.", autocompletion=complete_campaign
    ),
]


def predict(
    what: Annotated[
        list[str] | None, typer.Argument(help="Collectives: bcast allreduce …", autocompletion=complete_collective)
    ] = None,
    costs: _Costs = None,
    ranks: Annotated[str, typer.Option("--ranks", "-n", help="Rank counts: 64,1Ki or 2:1Mi (doubling).")] = "",
    algorithms: Annotated[
        str,
        typer.Option(
            help="`all`: Timpani's, and the library's with known schedules; or a list: binomial,openmpi/knomial."
        ),
    ] = "all",
    sizes: Annotated[str, typer.Option(help="Bytes, as `timpani run --sizes` counts them.")] = "8:1Mi*8",
    on: Annotated[
        str | None,
        typer.Option(
            metavar="WHERE",
            help="Machine file to predict for; default: the campaign's. Without one, ranks are as close as measured.",
        ),
    ] = None,
    placement: Annotated[str, typer.Option(help="Place ranks by core, socket, node or ppr:N.")] = "core",
    budget: Annotated[str, typer.Option(help="Maximum time to simulate one call; longer ones are left out.")] = "10s",
    hidden: Annotated[
        Path | None,
        typer.Option(
            "--backtest",
            metavar="CAMPAIGN",
            help="Instead, hide the larger rank counts of a campaign, and print how well they are predicted.",
            autocompletion=complete_campaign,
        ),
    ] = None,
    output: Annotated[Path | None, output_option("A new folder: page, figures, JSON.")] = None,
    format: Annotated[Format, document_format("json has the keys of docs/reference.md.")] = Format.text,
    force: Force = False,
) -> None:
    """Predict algorithms from measured costs: the fastest at each point, its time, and what the time consists of."""
    if hidden:
        if what or costs or ranks or output:
            raise UserError("--backtest takes a campaign and --format only", "leave the other options out")
        _print_backtest(hidden, format)
        return
    if not (what and costs and ranks):
        step = "for example: timpani predict bcast --costs CAMPAIGN --ranks 64:4Ki"
        raise UserError("predict needs collectives, --costs and --ranks", step)
    if output:
        check_new(output, force)
    limits = Limits(parse_duration(budget), available_memory())
    machine = resolve(on) if on else None
    campaigns = [load_one_machine(folder) for folder in costs]
    prepared = prepare(campaigns, what, algorithms, ranks, sizes, machine, placement, _announce)
    with share_bar("estimating") as passed:
        plan = prepared.plan(limits, passed)
    if plan.time > _ANNOUNCED_SECONDS:
        typer.echo(f"{counted(len(plan.seconds), 'call')} to simulate, about {show_seconds(plan.time)}", err=True)
    with share_bar("simulating") as passed:
        predicted = predict_request(prepared.simulator, prepared.calibration, prepared.request, plan, passed)
    if output:
        write_predicted(predicted, output, force)
    _print(predicted_document(predicted), predicted_object(predicted), format)


def _print_backtest(campaign: Path, format: Format) -> None:
    simulator = Simulator(build_without_mpi(first_mpi()))
    found = backtest(measurements(load_one_machine(campaign)), simulator, _announce)
    _print(backtest_document(found), found.to_dicts(), format)


def _print(document: Document, as_json: Any, format: Format) -> None:
    typer.echo(json_text(as_json) if format is Format.json else document_text(document, format), nl=False)


def _announce(text: str) -> None:
    typer.echo(text, err=True)


PROVE_FORMS: Hook[Form] = Hook("PROVE_FORMS")


@dataclass(frozen=True)
class _Printed:
    format: Annotated[Format, document_format("How to print the names.")] = Format.text


def _prove_cells(folder: Path, printed: _Printed) -> None:
    header = read_header(folder)
    proofs = read_proofs(folder)
    if not proofs:
        raise UserError(f"{folder} holds no counted messages", "count them: the same `timpani run` with --prove")
    named = named_proofs(proofs, Fingerprints.of_programs(first_mpi()), header.study.element_bytes_of)
    if printed.format is Format.json:
        typer.echo(json_text([line.as_json() for line in named]), nl=False)
    else:
        typer.echo(document_text(proof_document(named), printed.format), nl=False)
    for text in without_effect(proofs):
        typer.echo(f"Warning: {text}", err=True)


_FORMS = (*PROVE_FORMS.added(), Form("a campaign", lambda folder, typed: True, (_Printed,), _prove_cells))


@expand(options=options_of(_FORMS))
def prove(
    *,
    folder: Annotated[Path, campaign_argument("What `timpani run --prove -o` or `timpani profile --prove -o` wrote.")],
    options: Any,
) -> None:
    """Name the algorithm behind each cell's counted messages: the Timpani schedule that sends the same messages."""
    run_form(_FORMS, folder, options)
