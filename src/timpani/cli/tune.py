"""`timpani tune`: files that make the library choose as was measured; what is wrong with one, and what it chooses."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from timpani.cli.terminal.options import Force, StudyOptions, WhereOptions, expand, study_options
from timpani.study.defaults import TUNING_REGRET

if TYPE_CHECKING:
    from timpani.native.mpi import Mpi
    from timpani.rules.propose.predicted_rules import PredictionReach

_FILES = "files"
_BEYOND = "Beyond the measured rank counts"

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

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """The page of the form that names no command, and with it the commands."""
        whole = TyperGroup(
            name=self.name,
            help=self.help,
            epilog=self.epilog,
            params=[*self.commands[_FILES].params, *filter(None, [self.get_help_option(ctx)])],
            add_help_option=False,
            commands={name: each for name, each in self.commands.items() if name != _FILES},
            subcommand_metavar="",
            rich_markup_mode=self.rich_markup_mode,
        )
        whole.format_help(ctx, formatter)


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
@expand(
    study=study_options(
        ("algorithms", "ranks", "sizes", "datatype", "placement", "launches", "regret"),
        panel="Where something is to be measured",
        shown={"launches": "as many as the race takes", "regret": f"{TUNING_REGRET}, unless launches are given"},
    ),
    place=WhereOptions,
)
def files(
    *,
    what: Annotated[
        list[str],
        typer.Argument(
            metavar="CAMPAIGN|WHAT…",
            help="Campaigns' folders; or what `timpani run` takes: it is measured, and the files are confirmed.",
            show_default=False,
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder for the files.", show_default=False)],
    study: StudyOptions,
    place: WhereOptions,
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

    if with_predicted and predict_to is None:
        raise UserError("--with-predicted has nothing to add", "say how far to predict: --predict-to RANKS")
    options = study.given()
    if all((Path(name) / "campaign.json").exists() for name in what):
        given = [*options, *(["on"] if place.on and predict_to is None else [])]
        if given:
            raise UserError(f"{what[0]} is measured already", f"leave out --{given[0]}, or name what to measure")
        beyond = _beyond(predict_to, with_predicted, place.on, mpi)
        _write([Path(name) for name in what], output, mpi, force, beyond)
        return
    if predict_to is not None:
        raise UserError(f"{what[0]} is no campaign to predict from", "measure first: timpani run … --prove -o CAMPAIGN")
    raise typer.Exit(_measure_and_confirm(what, options, place, mpi, output, force))


def _measure_and_confirm(
    what: list[str],
    options: Mapping[str, object],
    place: WhereOptions,
    mpi: str | None,
    output: Path,
    force: bool,
) -> int:
    """Measure, write the files and confirm them; the exit status, 0 unless cells were given up."""
    from timpani.cli.confirm import confirm
    from timpani.cli.terminal.measuring import measure_or_exit
    from timpani.machine.where import resolve
    from timpani.rules.table.table_file import NAME, read_table
    from timpani.rules.table.tuned_files import EXPORTS, OUR_RULES
    from timpani.rules.workflow import Target, deciding_study, measure_boundaries

    machine = resolve(place.on, mpi) if place.on else None
    study = deciding_study(what, options, simulated=bool(machine and machine.simulated))
    campaigns, killed = measure_boundaries(
        study,
        Target(mpi, machine, place.oversubscribe),
        output,
        lambda session, folder, prove=None: measure_or_exit(
            session, folder, prove, lambda _: "rules are made without them; to measure them, choose another folder"
        ),
    )
    if not (output / NAME).exists() or force:  # else it resumes: rules that lost may have been taken out since
        _write(campaigns, output, mpi, force)
    switchable = any((output / name).exists() for name in (EXPORTS, OUR_RULES))
    if switchable and not read_table(output / NAME).simulated:  # a simulation would repeat itself
        confirm(output, launches=None, campaign=campaigns, mpi=mpi)
    return int(killed > 0)


def _beyond(predict_to: str | None, with_predicted: bool, on: str | None, mpi: str | None) -> "PredictionReach | None":
    """What is to be predicted; None where nothing is."""
    from timpani.machine.where import resolve
    from timpani.rules.propose.predicted_rules import PredictionReach
    from timpani.study.sizes import MOST_RANKS, parse_size

    if predict_to is None:
        return None
    return PredictionReach(parse_size(predict_to, MOST_RANKS), resolve(on, mpi) if on else None, with_predicted)


def _write(
    campaigns: list[Path], output: Path, mpi: str | None, force: bool, beyond: "PredictionReach | None" = None
) -> None:
    """Write the table of `campaigns` and its files, over existing ones only with `force`."""
    from timpani.errors import cannot_write
    from timpani.report.tuned.source_warnings import made_from
    from timpani.report.tuned.tuned_page import PAGE, tuned_lines, tuned_page
    from timpani.report.words.output_files import check_new, write_file
    from timpani.rules.workflow import make_rules

    made = make_rules(campaigns, output, mpi, beyond)
    known = made_from(campaigns, made.campaign)
    texts = {**made.files.texts, PAGE: tuned_page(made.table, made.files, output, made.library.name, known)}
    for name in texts:
        check_new(output / name, force)
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(output, error) from None
    for name, text in texts.items():
        write_file(output / name, text.encode(), force)
    for line in tuned_lines(made.table, made.files, output, known):
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
