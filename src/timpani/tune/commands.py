"""`timpani tune`: files that make the library choose as was measured; what is wrong with one, and what it chooses."""

import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import polars as pl
import typer
from typer.core import TyperGroup

from timpani.campaign.folder.bundle import campaign_folder
from timpani.campaign.folder.header import read_header
from timpani.campaign.folder.load import Campaign, load, load_one_machine, verify, way_on
from timpani.campaign.read.context import machine_layouts
from timpani.campaign.run.batch_jobs import JobStep, launches_of_job
from timpani.campaign.run.processes import remove_leftovers
from timpani.cli.job import asks_for_job, run_in_jobs, typed_words
from timpani.cli.terminal.completing import complete_campaign, complete_campaign_or_what
from timpani.cli.terminal.named_campaigns import campaign_or_newest
from timpani.cli.terminal.options import Campaign as CampaignArgument
from timpani.cli.terminal.options import (
    DryRun,
    For,
    Force,
    StudyOptions,
    WhereOptions,
    campaign_argument,
    expand,
    library_of_program,
    output_option,
    study_options,
)
from timpani.errors import UserError, printable
from timpani.judge.choose_rules import own_lines, rules_text, select
from timpani.judge.raced import raced_results
from timpani.machine.batch.batch_system import BatchJob
from timpani.machine.detect import resolve
from timpani.native.mpi import Mpi
from timpani.report.document.output_files import write_file
from timpani.slices import Hook
from timpani.study.cell import DEFAULT, OWN
from timpani.study.defaults import PROGRAM_REGRET, TUNING_REGRET
from timpani.study.selection import SIMULATED, SelectionTable
from timpani.study.sizes import MAX_RANKS, parse_size
from timpani.study.words import counted
from timpani.tune.confirmation_text import PAGE as CONFIRMATION
from timpani.tune.foreign_file import explained, read_file
from timpani.tune.from_campaign import installed_library, library_lines
from timpani.tune.making_rules import Until, can_be_confirmed, decisive_study, measure_and_confirm, write_rules
from timpani.tune.source_warnings import made_from
from timpani.tune.table_file import TABLE_FILE, verify_tuned
from timpani.tune.tuned_page import PAGE
from timpani.tune.workflow import DECIDING_FOLDER, OrderOfRules, PredictionReach, with_orders

_DEFAULT_MESSAGES: Hook[Callable[[Campaign, Mpi, int, int], Mapping[str, Mapping[int, str]]]] = Hook("DEFAULT_MESSAGES")

_FILES = "files"
_BEYOND = "Beyond the measured rank counts"

EXAMPLES = """Examples:

timpani tune my-campaign -o tuned

timpani tune bcast allreduce --ranks 2:64 --on cluster.toml --budget 2h -o tuned

timpani tune bcast --ranks 96 --on slurm:THIN,nodes=2,tasks=48,time=4:00:00 -o tuned

timpani tune my-campaign -o tuned --predict-to 4096 --on larger-machine.toml

timpani tune lint $HOME/.openmpi/rules.conf

timpani tune explain tuned/openmpi-tuned.conf --ranks 64 --nodes 8"""


class _FilesUnlessNamed(TyperGroup):
    """`timpani tune CAMPAIGN` writes files; `lint` and `explain` are commands of their own."""

    default_command = _FILES

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Where no command is named, files are meant."""
        if args and args[0] not in (*self.commands, *ctx.help_option_names):
            args = [_FILES, *args]
        return super().parse_args(ctx, args)

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """The words of the form that names no command, and the other commands."""
        files = self.commands[_FILES]
        with files.make_context(_FILES, [], parent=ctx, resilient_parsing=True) as context:
            of_files = [
                *files.shell_complete(context, incomplete),
                *files.params[0].shell_complete(context, incomplete),
            ]
        commands = super().shell_complete(ctx, incomplete)
        return [
            *(each for each in commands if each.value not in (_FILES, *(each.value for each in of_files))),
            *of_files,
        ]

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


app = typer.Typer(epilog=EXAMPLES, cls=_FilesUnlessNamed, no_args_is_help=True)


@app.callback()
def tune() -> None:
    """Write files that make the library use the algorithms that were faster: timpani tune CAMPAIGN -o DIR."""


Library = Annotated[
    str | None,
    typer.Option(
        "--mpi", help="openmpi, mpich, intel, or a path.", show_default="the one measured, or the first found"
    ),
]


@dataclass(frozen=True)
class _Place(WhereOptions):
    """Where to measure, and with which library."""

    mpi: Library = None


@dataclass(frozen=True)
class _Beyond:
    """Rules for rank counts that were not measured."""

    predict_to: Annotated[
        str | None,
        typer.Option(
            metavar="RANKS",
            help="Propose rules for up to this many ranks, predicted from the campaign; --on names a larger machine.",
            rich_help_panel=_BEYOND,
        ),
    ] = None
    with_predicted: Annotated[
        bool,
        typer.Option(
            "--with-predicted",
            help="Put predicted rules into the files that libraries read, too, not only into the table.",
            rich_help_panel=_BEYOND,
        ),
    ] = False


@dataclass(frozen=True)
class _Order:
    """How rules for reductions may add."""

    same_order: Annotated[
        bool, typer.Option("--same-order", help="For reductions only rules that change no bit of a result.")
    ] = False
    reproducible: Annotated[
        bool,
        typer.Option(
            "--reproducible",
            help="For reductions only rules by which results do not depend on message size and placement.",
        ),
    ] = False

    @property
    def wanted(self) -> OrderOfRules:
        """The order of rules; UserError where both are typed."""
        if self.same_order and self.reproducible:
            raise UserError("--same-order and --reproducible exclude each other", "leave one out")
        return "same-order" if self.same_order else "reproducible" if self.reproducible else "any"


@app.command(_FILES, epilog=EXAMPLES)
@expand(
    study=study_options(
        (
            "algorithms",
            "ranks",
            "sizes",
            "variants",
            "datatype",
            "operator",
            "root",
            "in_place",
            "placement",
            "arrival",
            "launches",
            "regret",
            "budget",
        ),
        panel="If something is measured",
        shown={
            "launches": "as many as the race takes",
            "regret": f"{TUNING_REGRET}, or {PROGRAM_REGRET} with --for, unless launches are given",
            "budget": "none; half of a budget is for choosing",
        },
    ),
    place=_Place,
    beyond=_Beyond,
    order=_Order,
)
def files(
    *,
    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="CAMPAIGN|WHAT…",
            help="Folders of campaigns. Or a study or operations, as for `timpani run`: these are measured, and the "
            "files are confirmed.",
            autocompletion=complete_campaign_or_what,
        ),
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder for the files.")],
    study: StudyOptions,
    place: _Place,
    program: For = None,
    beyond: _Beyond,
    until: Annotated[
        Until | None,
        typer.Option(
            help="Stop when the campaign is measured, or when rules are written and not yet confirmed.",
            rich_help_panel="If something is measured",
        ),
    ] = None,
    order: _Order,
    dry_run: DryRun = False,
    force: Force = False,
) -> None:
    """Write tuning files that make the library use the fastest algorithm at each point."""
    if beyond.with_predicted and beyond.predict_to is None:
        raise UserError("--with-predicted has nothing to add", "say how far to predict: --predict-to RANKS")
    wanted = order.wanted
    if wanted != "any" and beyond.predict_to is not None:
        raise UserError(f"--{wanted} needs calls, which a prediction has not", "leave out --predict-to")
    if (what is None) == (program is None):
        raise UserError("name campaigns, or what to measure, or a profile with --for", "see timpani tune --help")
    options = study.given()
    place_to_measure = None if beyond.predict_to else place.on  # a prediction is for the place named
    if what and all((Path(name) / "campaign.json").exists() for name in what):
        given = [*options, *(["on"] if place_to_measure else []), *(["dry-run"] if dry_run else [])]
        if given:
            raise UserError(f"{what[0]} is measured already", f"leave out --{given[0]}, or name what to measure")
        reach = _prediction_reach(beyond, place)
        write_rules([Path(name) for name in what], output, place.mpi, force, reach, None if wanted == "any" else wanted)
        return
    if beyond.predict_to is not None:
        named = what[0] if what else program
        raise UserError(f"{named} is no campaign to predict from", "measure first: timpani run … --prove -o CAMPAIGN")
    study_of = partial(decisive_study, what, program, options)
    if place.on and asks_for_job(place.on):
        study_of(False)  # what is wrong shows now, and not in the job
        run_in_jobs(place.on, dry_run, _steps(place, output, options, until, force))
        return
    mpi = place.mpi or library_of_program(program, place.on)
    status = measure_and_confirm(
        study_of, place, mpi, output, program, force=force, dry_run=dry_run, until=until, order=wanted
    )
    raise typer.Exit(status)


def _steps(
    place: _Place, output: Path, options: Mapping[str, Any], until: Until | None, force: bool
) -> Iterator[JobStep]:
    """The jobs of a tuning: several measure everything, one makes rules of it, and one on other nodes confirms them."""
    assert place.on, "a batch system is named"
    campaign = output / DECIDING_FOLDER
    launches = launches_of_job(place.on, options.get("launches"))
    confirming = ["confirm", str(output), *(["--mpi", place.mpi] if place.mpi else [])]
    confirming += ["--budget", str(options["budget"])] if "budget" in options else []
    then = f"Then, in a job on other nodes: timpani {shlex.join(confirming)}"
    total = () if launches is None else ("--launches", str(launches * BatchJob.parse(place.on).jobs))
    ruling = typed_words([*total, *([] if until else ["--until", "rules"])])
    if not (output / TABLE_FILE).exists() or force:
        if launches is not None:
            first = f"Then, in one job: timpani {shlex.join(ruling)}"
            yield JobStep(typed_words(["--until", "campaign"]), campaign, launches, resumed=True, notes=(first, then))
        if until != "campaign" or launches is None:
            yield JobStep(ruling, campaign, notes=(then,))
    if until is None and can_be_confirmed(output):
        yield JobStep(confirming, output, elsewhere=sorted(output.glob(f"{DECIDING_FOLDER}*")))
    elif until is None:
        typer.echo("no rule is left to confirm", err=True)


def _prediction_reach(beyond: _Beyond, place: _Place) -> PredictionReach | None:
    """The rank counts to predict rules for; None without predictions."""
    if beyond.predict_to is None:
        return None
    machine = resolve(place.on, place.mpi) if place.on else None
    return PredictionReach(parse_size(beyond.predict_to, MAX_RANKS), machine, beyond.with_predicted)


@app.command()
def lint(
    file: Annotated[Path, typer.Argument(help="A tuning file of a library.")],
    mpi: Library = None,
) -> None:
    """Print the mistakes in a library's tuning file; the exit status is 1 if there are any."""
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


@app.command()
def explain(
    file: Annotated[Path, typer.Argument(help="A tuning file of a library.")],
    ranks: Annotated[int, typer.Option("--ranks", "-n", "-np", min=1, help="Ranks of the communicator.")] = 2,
    nodes: Annotated[int, typer.Option(min=1, help="Nodes that they are on.")] = 1,
    default_from: Annotated[
        Path | None,
        typer.Option(
            metavar="CAMPAIGN",
            help="Campaign measured with `timpani run … --prove`: also print what Open MPI's default sent.",
            autocompletion=complete_campaign,
        ),
    ] = None,
    mpi: Library = None,
) -> None:
    """Print the library's choice with a tuning file at each size from 1 B to 1 GiB, and, if known, without the file.

    MPICH's choice without the file is read from the library. That of Open MPI and Intel MPI can't be read; with
    --default-from, the messages of the default are printed for the sizes at which they were counted.
    """
    if nodes > ranks:
        raise UserError(f"{ranks} ranks can't be on {nodes} nodes", "give fewer nodes, or more ranks")
    found = read_file(file, mpi)
    choice = found.format.read(found.text, found.catalogue)
    default = found.format.default(found.catalogue, found.mpi)
    sent = _default_messages(default_from, found.mpi, ranks, nodes) if default_from else {}
    for line in explained(choice, ranks, nodes, default, sent):
        typer.echo(line)


def _default_messages(folder: Path, mpi: Mpi, ranks: int, nodes: int) -> Mapping[str, Mapping[int, str]]:
    """What the default sent, in words, by collective and size."""
    campaign = load_one_machine(folder)
    installed_library(campaign, str(mpi.mpirun))
    return _DEFAULT_MESSAGES.only("--default-from")(campaign, mpi, ranks, nodes)


@expand(order=_Order)
def rules(
    *,
    folder: Annotated[Path, campaign_argument("A campaign that measured the default and other algorithms.")],
    output: Annotated[Path, output_option("The new file.")],
    of_library: Annotated[
        bool, typer.Option("--library", help="Choose among the library's algorithms, not Timpani's.")
    ] = False,
    mpi: Annotated[
        str | None,
        typer.Option(
            help="The campaign's library, for --library, --same-order and --reproducible.",
            show_default="the first found of its kind",
        ),
    ] = None,
    order: _Order,
    force: Force = False,
) -> None:
    """Write rules for the points at which another algorithm was significantly faster than the library's default.

    For a merged campaign, a point gets a rule only if one of Timpani's algorithms was significantly faster on every
    machine.
    """
    wanted = order.wanted
    campaign = load_one_machine(folder) if of_library or wanted != "any" else load(folder)
    provider = campaign.header.mpi.kind if of_library else OWN
    found = select(raced_results(campaign.of_variant()), machine_layouts(campaign), provider).rules
    library = installed_library(campaign, mpi) if of_library or wanted != "any" else None
    if library and wanted != "any":
        competing = campaign.results.filter((pl.col("provider") == provider) | (pl.col("algorithm") == DEFAULT))
        table = SelectionTable(library.kind, library.version, found)
        among = replace(campaign, results=competing)
        found = with_orders(table, among, library, wanted, partial(typer.echo, err=True)).rules
    lines, costs, left_out = library_lines(library, found) if library and of_library else own_lines(found)
    for rule in left_out:
        typer.echo(f"left out: {rule.collective} {rule.algorithm}: only a whole launch can be set to it", err=True)
    if not lines:
        raise UserError(
            f"{folder} has no point at which an algorithm of {'the library' if of_library else 'Timpani'} is "
            "significantly faster than the default and the nodes of the ranks are known",
            f"measure default and {'others' if of_library else 'timpani/…'} at more sizes, with more launches, or on a "
            "machine (--on)",
        )
    simulated = campaign.simulated
    measured = {name: each.header.mpi for name, each in campaign.by_machine().items()}
    about = [f"from {folder.name}: {mpi.title} on {name}" for name, mpi in measured.items()]
    write_file(output, rules_text(lines, [SIMULATED] * simulated + about + costs).encode(), force)
    for warning in made_from([folder], campaign).warnings:
        typer.echo(f"Warning: {warning}", err=True)
    typer.echo(f"{output}: {counted(len(lines), 'rule')}")
    for cost in costs:
        typer.echo(f"Warning: {cost}; `timpani run … --rules` measures what that costs", err=True)
    typer.echo(f"use them: timpani preload --rules {shlex.quote(str(output))} -- mpirun …")
    if simulated:
        typer.echo(f"{SIMULATED}: no real machine was timed, so measure before you rely on these rules")


def check(folder: CampaignArgument = None) -> None:
    """Verify each record of a campaign and its raw samples, or the table and the pages that `timpani tune` wrote.

    The exit status is 1 if one was changed or damaged. Remains of killed launches on this computer are removed.
    """
    folder = campaign_folder(campaign_or_newest(folder))
    if (folder / TABLE_FILE).exists() and not (folder / "campaign.json").exists():
        _check_tuned(folder)
        return
    header = read_header(folder)
    found = verify(folder, header)
    for problem in found.problems:
        typer.echo(problem)
    typer.echo(
        f"as written: {counted(found.verified, 'line')}, and the raw samples of {counted(found.samples, 'result')}"
    )
    for removed in remove_leftovers(folder, header):
        typer.echo(f"removed {removed}: a launch that was killed left it")
    if found.problems:
        typer.echo(f"{counted(len(found.problems), 'problem')}; {way_on(header)}")
        raise typer.Exit(1)


def _check_tuned(folder: Path) -> None:
    """Print which files of a tuned folder are as they were written; exits with 1 where one is not."""
    written, problems = verify_tuned(folder, (PAGE, CONFIRMATION))
    for problem in problems:
        typer.echo(problem)
    typer.echo(
        f"as written: {', '.join(written)}; files that libraries read carry no checksum: `timpani confirm` tries them"
    )
    if problems:
        typer.echo("write them anew: timpani tune, timpani confirm")
        raise typer.Exit(1)
