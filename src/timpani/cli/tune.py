"""`timpani tune`: files that make the library choose as was measured; what is wrong with one, and what it chooses."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from timpani.cli.terminal.options import Force

if TYPE_CHECKING:
    from timpani.machine.nodes.model import Machine
    from timpani.native.mpi import Mpi
    from timpani.rules.propose.predicted_rules import Asked
    from timpani.study.study import Study

_FILES = "files"
_MEASURED = "Where something is to be measured"
_BEYOND = "Beyond the measured rank counts"
RACE = "2%"
"""What a choice may cost where nobody says how well to measure."""
_CALL_SECONDS = 0.2  # of simulating one call, of a thousand or more; what takes longer is left out and named
_MOST_HALVINGS = 6  # of a gap between measured sizes: of one of 4,000 times, until its sizes lie within 15 %

EXAMPLES = """Examples:

timpani tune my-campaign -o tuned

timpani tune bcast allreduce --ranks 2:64 --on cluster.toml -o tuned

timpani tune my-campaign -o tuned --predict-to 4096 --on larger-machine.toml

timpani tune lint $HOME/.openmpi/rules.conf

timpani tune explain tuned/openmpi-tuned.conf --ranks 64 --nodes 8"""


class _FilesUnlessNamed(TyperGroup):
    """`timpani tune CAMPAIGN` writes files; `lint` and `explain` are commands of their own."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Where no command is named, files are meant."""
        if args and args[0] not in (*self.commands, *ctx.help_option_names):
            args = [_FILES, *args]
        return super().parse_args(ctx, args)


tune = typer.Typer(
    help="Write files that make the library choose as was measured: timpani tune CAMPAIGN -o DIR.",
    epilog=EXAMPLES,
    cls=_FilesUnlessNamed,
    no_args_is_help=True,
)

Library = Annotated[
    str | None,
    typer.Option(
        "--mpi", help="openmpi, mpich, intel, or a path.", show_default="the one measured, or the first found"
    ),
]


@tune.command(_FILES, epilog=EXAMPLES)
def files(
    what: Annotated[
        list[str],
        typer.Argument(
            metavar="CAMPAIGN|WHAT…",
            help="Campaigns' folders; or what `timpani run` takes: it is measured, and the files are confirmed.",
            show_default=False,
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder for the files.", show_default=False)],
    algorithms: Annotated[
        str | None, typer.Option(help="As `timpani run` takes them.", show_default="all", rich_help_panel=_MEASURED)
    ] = None,
    ranks: Annotated[
        str | None,
        typer.Option("--ranks", "-n", "-np", help="2,4,8 or 2:256.", show_default="2", rich_help_panel=_MEASURED),
    ] = None,
    sizes: Annotated[
        str | None, typer.Option(help="Bytes: 8,64K or 1:1M.", show_default=False, rich_help_panel=_MEASURED)
    ] = None,
    datatype: Annotated[
        str | None,
        typer.Option(help="uint8, int32, float or double.", show_default="uint8", rich_help_panel=_MEASURED),
    ] = None,
    placement: Annotated[
        str | None,
        typer.Option(help="core, socket, node or ppr:N.", show_default="core", rich_help_panel=_MEASURED),
    ] = None,
    launches: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="A fixed number of starts of the MPI program, with everything in each; or at most, of a race.",
            show_default="as many as the race takes",
            rich_help_panel=_MEASURED,
        ),
    ] = None,
    regret: Annotated[
        str | None,
        typer.Option(
            help="As `timpani run` races.",
            show_default=f"{RACE}, unless launches are given",
            rich_help_panel=_MEASURED,
        ),
    ] = None,
    on: Annotated[
        str | None,
        typer.Option(
            metavar="WHERE", help="A machine file, here, lab.", show_default="this computer", rich_help_panel=_MEASURED
        ),
    ] = None,
    oversubscribe: Annotated[
        bool, typer.Option("--oversubscribe", help="Allow more ranks than cores.", rich_help_panel=_MEASURED)
    ] = False,
    predict_to: Annotated[
        str | None,
        typer.Option(
            metavar="RANKS",
            help="Propose rules for up to so many ranks, predicted from the campaign; --on names a larger machine.",
            show_default=False,
            rich_help_panel=_BEYOND,
        ),
    ] = None,
    with_predicted: Annotated[
        bool,
        typer.Option(
            "--with-predicted",
            help="Put predicted rules into the files that libraries read, too; without, only into the table.",
            rich_help_panel=_BEYOND,
        ),
    ] = False,
    mpi: Library = None,
    force: Force = False,
) -> None:
    """Write a table of which algorithm is best where, and the files by which the library follows it."""
    from timpani.errors import UserError
    from timpani.rules.table.table_file import NAME, read_table
    from timpani.rules.table.tuned_files import EXPORTS, OUR_RULES

    if with_predicted and predict_to is None:
        raise UserError("--with-predicted has nothing to add", "say how far to predict: --predict-to RANKS")
    asked = {
        "algorithms": algorithms,
        "ranks": ranks,
        "sizes": sizes,
        "datatype": datatype,
        "placement": placement,
        "launches": launches,
        "regret": regret,
    }
    if all((Path(name) / "campaign.json").exists() for name in what):
        elsewhere = {"on": on} if predict_to is None else {}
        given = [name for name, value in {**asked, **elsewhere}.items() if value is not None]
        if given:
            raise UserError(f"{what[0]} is measured already", f"leave out --{given[0]}, or name what to measure")
        _write([Path(name) for name in what], output, mpi, force, _beyond(predict_to, with_predicted, on, mpi))
        return
    if predict_to is not None:
        raise UserError(f"{what[0]} is no campaign to predict from", "measure first: timpani run … --prove -o CAMPAIGN")
    from timpani.cli.confirm import confirm

    campaigns, given_up = _measure_boundaries(what, asked, on, oversubscribe, mpi, output)
    if not (output / NAME).exists() or force:  # else it went on: rules that lost may have been taken out since
        _write(campaigns, output, mpi, force)
    switchable = any((output / name).exists() for name in (EXPORTS, OUR_RULES))
    if switchable and not read_table(output / NAME).simulated:  # a simulation would repeat itself
        confirm(output, launches=None, campaign=campaigns, mpi=mpi)
    raise typer.Exit(given_up)


def _beyond(predict_to: str | None, with_predicted: bool, on: str | None, mpi: str | None) -> "Asked | None":
    """What is to be predicted; None where nothing is."""
    from timpani.machine.where import resolve
    from timpani.rules.propose.predicted_rules import Asked
    from timpani.study.sizes import MOST_RANKS, parse_size

    if predict_to is None:
        return None
    return Asked(parse_size(predict_to, MOST_RANKS), resolve(on, mpi) if on else None, with_predicted)


def _measure_boundaries(
    what: list[str], asked: Mapping[str, object], on: str | None, oversubscribe: bool, mpi: str | None, output: Path
) -> tuple[list[Path], int]:
    """The campaigns that decide, what is asked, then sizes between those at which the choice changes; and the exit
    status, which tells whether cells were given up."""
    from timpani.machine.where import resolve
    from timpani.rules.confirm.refinement import refining_study
    from timpani.rules.table.from_campaign import table_of
    from timpani.rules.table.merged_campaigns import load_together

    machine = resolve(on, mpi) if on else None
    campaigns = [output / "campaign"]
    study = study_that_decides(what, asked, simulated=bool(machine and machine.simulated))
    given_up = _measure(study, mpi, oversubscribe, machine, campaigns[0])
    for number in range(1, _MOST_HALVINGS + 1):
        measured = load_together(campaigns)
        between = refining_study(table_of(measured, campaigns).gaps, measured)
        if between is None:
            break
        campaigns.append(output / f"campaign-between-{number}")
        given_up = max(given_up, _measure(between, mpi, oversubscribe, machine, campaigns[-1]))
    return campaigns, given_up


def study_that_decides(what: list[str], asked: Mapping[str, object], *, simulated: bool) -> "Study":
    """What is asked, as a race unless it says how many launches; a simulation doesn't vary, so that it needs none."""
    from timpani.study.compose import compose

    named = compose(what, asked)
    if simulated or named.model_fields_set & {"launches", "regret"}:
        return named
    return compose(what, {**asked, "regret": RACE})


def _measure(study: "Study", mpi: str | None, oversubscribe: bool, machine: "Machine | None", folder: Path) -> int:
    """A campaign in `folder`, begun or gone on with; returns the exit status, 0 unless cells were given up."""
    from timpani.campaign.run.session import Session
    from timpani.cli.terminal.ending import given_up_status, stopped_status
    from timpani.cli.terminal.measuring import measure

    session = Session.prepare(study, mpi, oversubscribe, machine)
    typer.echo(f"measuring into {folder}", err=True)
    outcome = measure(session, folder)
    if stopped := stopped_status(outcome, session.stopped):
        raise typer.Exit(stopped)
    return given_up_status(outcome, "rules are made without them; to measure them, choose another folder")


def _write(campaigns: list[Path], output: Path, mpi: str | None, force: bool, beyond: "Asked | None" = None) -> None:
    """The table of `campaigns` and all its files, none over one that is there but with `force`."""
    from dataclasses import replace

    from timpani.errors import cannot_write
    from timpani.libraries.registry import LIBRARIES
    from timpani.prediction.request import Limits
    from timpani.providers.verification_cost import available_memory
    from timpani.report.tuned.source_warnings import made_from
    from timpani.report.tuned.tuned_page import PAGE, tuned_lines, tuned_page
    from timpani.report.words.output_files import check_new, write_file
    from timpani.rules.propose.predicted_rules import predicted_rules
    from timpani.rules.table.from_campaign import installed, table_of
    from timpani.rules.table.merged_campaigns import load_together
    from timpani.rules.table.tuned_files import tuned_files

    campaign = load_together(campaigns)
    table = table_of(campaign, campaigns)
    library = installed(campaign, mpi)
    if beyond:
        limits = Limits(_CALL_SECONDS, available_memory())
        table = replace(table, predicted=predicted_rules(campaign, beyond, library, limits))
    written = tuned_files(table, library, LIBRARIES[library.kind].catalogue(library), output)
    known = made_from(campaigns, campaign)
    texts = {**written.texts, PAGE: tuned_page(table, written, output, library.name, known)}
    for name in texts:
        check_new(output / name, force)
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(output, error) from None
    for name, text in texts.items():
        write_file(output / name, text.encode(), force)
    for line in tuned_lines(table, written, output, known):
        typer.echo(line)


@tune.command()
def lint(
    file: Annotated[Path, typer.Argument(help="A file that a library chooses algorithms by.", show_default=False)],
    mpi: Library = None,
) -> None:
    """Say what is wrong with a library's tuning file; the exit status is 1 where something is."""
    from timpani.errors import printable
    from timpani.rules.table.foreign_file import read_file
    from timpani.study.counted import counted

    found = read_file(file, mpi)
    faults = list(found.format.lint(found.text, found.catalogue, found.mpi))
    for fault in faults:
        where = printable(f"{file}:{fault.line}" if fault.line else str(file))
        typer.echo(f"{where}: {fault.severity}: {fault.what}: {fault.consequence}; {fault.fix}")
    errors, warnings = (sum(fault.severity == severity for fault in faults) for severity in ("error", "warning"))
    typer.echo(
        f"{found.format.title}, read for {found.mpi}: {counted(errors, 'error')}, {counted(warnings, 'warning')}"
    )
    raise typer.Exit(1 if errors or warnings else 0)


@tune.command()
def explain(
    file: Annotated[Path, typer.Argument(help="A file that a library chooses algorithms by.", show_default=False)],
    ranks: Annotated[int, typer.Option("--ranks", "-n", "-np", min=1, help="Ranks of the communicator.")] = 2,
    nodes: Annotated[int, typer.Option(min=1, help="Nodes that they are on.")] = 1,
    beside: Annotated[
        Path | None,
        typer.Option(
            metavar="CAMPAIGN",
            help="One that counted messages (`timpani run … --prove`): name those of the default beside.",
            show_default=False,
        ),
    ] = None,
    mpi: Library = None,
) -> None:
    """Say what the library would choose by a file, at each size from 1 B to 1 GiB, and what without where it tells.

    MPICH's own choice is read from the library. Open MPI's and Intel MPI's can't be; with --beside, what messages the
    default sent is told at the sizes where they were counted.
    """
    from timpani.errors import UserError
    from timpani.report.tuned.explanation import explained
    from timpani.rules.table.foreign_file import read_file

    if nodes > ranks:
        raise UserError(f"{ranks} ranks can't be on {nodes} nodes", "give fewer nodes, or more ranks")
    found = read_file(file, mpi)
    choice = found.format.read(found.text, found.catalogue)
    default = found.format.default(found.catalogue, found.mpi)
    sent = _default_messages(beside, found.mpi, ranks, nodes) if beside else {}
    for line in explained(choice, ranks, nodes, default, sent):
        typer.echo(line)


def _default_messages(folder: Path, mpi: "Mpi", ranks: int, nodes: int) -> "Mapping[str, Mapping[int, str]]":
    """What the default sent, in words, by collective and size."""
    from timpani.campaign.folder.load import load
    from timpani.native.build import build
    from timpani.providers.own import own_catalogue
    from timpani.report.tuned.default_messages import default_messages
    from timpani.rules.table.from_campaign import installed
    from timpani.schedules.fingerprint import Fingerprints
    from timpani.schedules.simulation import Simulator

    campaign = load(folder)
    installed(campaign, str(mpi.mpirun))
    fingerprints = Fingerprints(Simulator(build(mpi)), own_catalogue(mpi))
    return default_messages(campaign, ranks, nodes, fingerprints)
