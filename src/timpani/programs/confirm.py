"""Confirm what a tuned folder or a variant switches on for a user's program, and take out rules that make it slower."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from timpani.campaign.run.session import Session, variants
from timpani.cli.job import typed_words
from timpani.cli.terminal.forms import Form
from timpani.cli.terminal.named_campaigns import folder_of_today
from timpani.cli.terminal.options import output_option
from timpani.errors import UserError
from timpani.libraries.registry import LIBRARIES, library_title
from timpani.native.build import build
from timpani.native.mpi import Mpi
from timpani.programs.runs.block_runs import (
    AS_IT_IS,
    CHOSEN,
    BlockRuns,
    Choice,
    ComparedOutput,
    ProgramComparison,
    ProgramRun,
    judge_words,
)
from timpani.programs.runs.preloaded_command import library_of
from timpani.stats.compare import ALPHA, INDIFFERENCE, BlockComparison, holm
from timpani.study.defaults import MIN_BLOCKS
from timpani.study.operations import OPERATIONS
from timpani.study.selection import Rule, SelectionTable, change_of_order
from timpani.study.study import Study
from timpani.study.variant import Variant, parse_named
from timpani.study.words import counted, listed, per_cent
from timpani.tune.confirming import ConfirmedFrom, rewrite, table_and_campaign
from timpani.tune.table_file import TABLE_FILE, read_table, read_table_to_use
from timpani.tune.tuned_files import PRELOAD_RULES
from timpani.tune.workflow import MAX_ROUNDS, files_of


def choice_of(folder: Path, library: Mpi) -> Choice:
    """The choice of a tuned folder; UserError where it is of another library, or holds no rule."""
    table = read_table_to_use(folder)
    if (table.library, table.version) != (library.kind, library.version):
        raise UserError(
            f"{folder} is for {library_title(table.library, table.version)}, and the program runs with {library.title}",
            "start the program with the library that was measured",
        )
    files = files_of(table, library, folder)
    rules = folder / PRELOAD_RULES if PRELOAD_RULES in files.texts else None
    missing = [name for name in files.texts if not (folder / name).exists()]
    if missing:
        raise UserError(f"{folder / missing[0]} is lost", "write the files anew: timpani tune")
    if not files.settings and rules is None:
        raise UserError(
            f"{folder} holds no rule, so the program would run as it does without",
            "if its points are undecided, measure longer: timpani tune --budget; else the default is as good",
        )
    read = [each.format.name for each in files.library if each.rules]
    return Choice(files.settings, rules, texts={name: (folder / name).read_text(errors="replace") for name in read})


_PRELOAD = "LD_PRELOAD"


def choice_of_variant(text: str, library: Mpi) -> Choice:
    """The choice of a variant, as `--variant` has it; UserError for a setting that `library` does not take."""
    name, variant = parse_named(text)
    if variant.mpi:
        raise UserError(
            f"variant {name!r} names another library, and a program is linked with one",
            "compare two programs, or measure the libraries: timpani run … --mpi A --mpi B",
        )
    environment, unset = variants().environment(name, variant)
    if _PRELOAD in (*environment, *unset):
        raise UserError(
            f"variant {name!r} sets or removes {_PRELOAD}, by which the program's calls are counted",
            "preload it in the program's command: env LD_PRELOAD=…",
        )
    _check_in_force(name, variant, library)
    known = LIBRARIES[library.kind]
    parameters = {known.launcher.variable(parameter): value for parameter, value in variant.parameters}
    own = {variable for variable in environment if known.settings.control(variable) is not None}
    return Choice(
        {**environment, **parameters},
        None,
        variant.arguments,
        tuple(variable for variable in environment if variable not in own),
        removed=tuple(sorted(unset)),
    )


def _check_in_force(name: str, variant: Variant, library: Mpi) -> None:
    """Start the library once with the settings; UserError where one is unknown, not in force, or does not start."""
    study = Study.check(
        {
            "collectives": {"barrier": ["default"]},
            "ranks": 2,
            "sizes": [0],
            "launches": 1,
            "variants": {name: str(variant)},
        },
        f"variant {name!r}",
    )
    planned = Session.prepare(study, str(library.mpirun), oversubscribe=True).plan
    # The program's ranks may be bound in any way, and on other nodes it may call other collectives.
    variants().check(planned.on_shared_cores(1), build, components=False)


def slower_collectives(found: ProgramComparison, table: SelectionTable) -> list[str]:
    """The collectives with a rule that take significantly longer with the choice, and not practically the same time.

    Holm's correction is for all of them. Waiting for late ranks does not count: a slow collective makes ranks late for
    the next one.
    """
    names = sorted({rule.collective for rule in table.for_files().rules} & found.by_collective.keys())
    compared = [found.by_collective[name] for name in names]
    adjusted, _ = holm(np.array([each.p_value for each in compared]))
    return [
        name
        for name, each, p_value in zip(names, compared, adjusted, strict=True)
        if each.high < INDIFFERENCE[0] and p_value <= ALPHA
    ]


def without_slower(table: SelectionTable, slower: Iterable[str]) -> SelectionTable:
    """`table` without the rules of the `slower` collectives; without any rule or setting if no collective is slower.

    Then the cause may be the setting, a file that also changes calls without a rule, or several
    small losses. Rules that were chosen for their order stay.
    """
    names = set(slower)

    def kept(rules: Iterable[Rule]) -> tuple[Rule, ...]:
        return tuple(rule for rule in rules if rule.for_order or (names and rule.collective not in names))

    predicted = table.predicted
    if predicted and predicted.in_files:
        predicted = replace(predicted, rules=kept(predicted.rules))
    return replace(table, rules=kept(table.rules), predicted=predicted, setting=table.setting if names else None)


@dataclass(frozen=True)
class ProgramRequest:
    """A program, and how it is compared with itself.

    runs    of each side
    output  that all runs should have; None: outputs are not compared
    mpi     the program's library; None: the launcher's
    """

    command: Sequence[str]
    runs: int
    output: ComparedOutput | None = None
    mpi: str | None = None


def confirm_files(folder: Path, campaigns: list[Path], request: ProgramRequest) -> int:
    """Compare a program as it is with the program under the files of `folder`; the exit status.

    Rules that make the program slower are taken out, and the remaining rules are confirmed again.

    campaigns  from which the rules were chosen; none: those that their table names
    """
    library = library_of(request.command, request.mpi)
    for _ in range(MAX_ROUNDS):
        choice = choice_of(folder, library)
        table = read_table(folder / TABLE_FILE)
        setting = "-and-setting" if table.setting else ""  # each round has less than the one before
        found = _compared(folder / f"program-of-{len(table.for_files().rules)}{setting}", choice, request)
        if found.different_outputs:
            typer.echo(order_line(table, found.different_outputs))
        if found.wall.standing != "slower":
            return int(bool(found.different_outputs))
        if not table.setting and all(rule.for_order for rule in table.for_files().rules):
            typer.echo("its rules stay: they were chosen for their order of addition, not for their speed")
            return 1
        if not _take_out(folder, campaigns, library, found):
            typer.echo("no rule is left: the library chooses as before")
            return 1
    typer.echo(f"rules were taken out in {MAX_ROUNDS} rounds: the same command confirms those that are left")
    return 1


def confirm_variant(variant: str, output: Path | None, request: ProgramRequest) -> int:
    """Compare a program as it is with the program under a variant's settings; the exit status.

    output  the folder of the runs; None: named after the variant, the program and the day
    """
    choice = choice_of_variant(variant, library_of(request.command, request.mpi))
    folder = output or folder_of_today([variant.partition(":")[0].strip()])
    found = _compared(folder, choice, request)
    return int(found.wall.standing == "slower" or bool(found.different_outputs))


def _compared(folder: Path, choice: Choice, request: ProgramRequest) -> ProgramComparison:
    """Run both sides in blocks into `folder`, and print what they show."""
    blocks = BlockRuns(folder, request.command, choice, request.output, request.mpi)
    kept = f", which has {counted(len(blocks.runs), 'run')}" if blocks.runs else ""
    typer.echo(f"runs are kept in {folder}{kept}", err=True)
    for run in blocks.complete(request.runs):
        typer.echo(f"block {run.block} of {request.runs}, {run.side}: {run.seconds:.3f} s", err=True)
    found = blocks.comparison()
    for line in comparison_lines(found):
        typer.echo(line)
    return found


def _take_out(folder: Path, campaigns: list[Path], library: Mpi, found: ProgramComparison) -> bool:
    """Write the files of `folder` without the rules that made the program slower; whether anything is left."""
    table, _, known = table_and_campaign(folder, campaigns)
    slower = slower_collectives(found, table)
    remaining = without_slower(table, slower)
    files = files_of(remaining, library, folder)
    rewrite(remaining, files, library, folder, known)
    for line in taken_out_lines(table, slower, found):
        typer.echo(line)
    return bool(files.settings or files.preload_rules)


_option = partial(typer.Option, rich_help_panel="With a program")


@dataclass(frozen=True)
class _ProgramRuns:
    """How a program is confirmed, as typed."""

    command: Annotated[
        list[str] | None,
        typer.Argument(help="After `--`: a program on which the files are confirmed: mpirun … ./program."),
    ] = None
    runs: Annotated[
        int | None,
        _option(
            min=1,
            help=f"Number of runs with the files, and of runs without them; a verdict takes {MIN_BLOCKS}.",
            show_default=str(MIN_BLOCKS),
        ),
    ] = None
    same_output: Annotated[
        Path | None,
        _option(
            help="A file that the program writes, or `-` for what it prints: this output must be the same in all runs."
        ),
    ] = None
    judge: Annotated[
        str | None,
        _option(
            metavar="COMMAND",
            help="With --same-output: a command that gets two outputs as its last words, and ends with status 0 if "
            "they are the same and 1 if not.",
            show_default="the same bytes",
        ),
    ] = None
    variant: Annotated[
        str | None,
        _option(metavar="NAME: SETTINGS", help="In place of FOLDER: settings as `timpani run --variant` takes them."),
    ] = None
    output: Annotated[
        Path | None,
        output_option(
            "With --variant: the folder of the runs; the same command continues there.",
            "named after the variant and the day",
            "With a program",
        ),
    ] = None


def _confirm(folder: Path, program: _ProgramRuns, source: ConfirmedFrom) -> None:
    """Confirm files or a variant on a program; with a variant `folder` is the program's first word."""
    if program.judge is not None and program.same_output is None:
        raise UserError("--judge has no output to judge", "name it: --same-output FILE, or - for what is printed")
    judge = judge_words(program.judge) if program.judge is not None else ()
    output = ComparedOutput(program.same_output, judge) if program.same_output else None
    command, runs = program.command or [], program.runs or MIN_BLOCKS
    if program.variant is not None:
        if source.campaign:
            raise UserError("--campaign is for rules, and --variant has none", "leave --campaign out")
        pairs = pairwise(typed_words())  # ./program was typed where `folder` is program
        first = next((word for before, word in pairs if before == "--" and Path(word) == folder), str(folder))
        request = ProgramRequest([first, *command], runs, output, source.mpi)
        raise typer.Exit(confirm_variant(program.variant, program.output, request))
    if not command:
        raise UserError("no program is named on which the files are confirmed", "name it after `--`")
    if program.output:
        raise UserError("--output is for --variant", f"runs are kept in {folder}")
    raise typer.Exit(confirm_files(folder, source.campaign or [], ProgramRequest(command, runs, output, source.mpi)))


def _applies(_: Path, typed: Any) -> bool:
    return any(getattr(typed, each.name) != each.default for each in fields(_ProgramRuns))


CONFIRM = Form("a program", _applies, (_ProgramRuns, ConfirmedFrom), _confirm)


_WORDS = {
    "faster": "faster",
    "slower": "SLOWER",
    "tie": "not significantly faster or slower",
    "undecided": "not yet known to be faster or slower",
}


def comparison_lines(found: ProgramComparison) -> Iterator[str]:
    """The verdict on the whole program, then on its time in collectives, then on its output."""
    before, after = found.median_seconds[AS_IT_IS], found.median_seconds[CHOSEN]
    yield (
        f"the program is {_WORDS[found.wall.standing]} with the choice: {ratio_words(found.wall)}, "
        f"medians {before:.3f} s and {after:.3f} s"
    )
    if found.collectives:
        before, after = found.median_collective_seconds[AS_IT_IS], found.median_collective_seconds[CHOSEN]
        yield (
            f"its collectives are {_WORDS[found.collectives.standing]}: {ratio_words(found.collectives)}, "
            f"medians {before:.3f} s and {after:.3f} s of a rank"
        )
    else:
        yield "it called no blocking collective"
    if found.different_outputs:
        first, *others = found.different_outputs
        for run in others:
            yield (
                f"the output of block {run.block} {run.side} differs from the first: compare {first.kept_output} and "
                f"{run.kept_output}"
            )


def order_line(table: SelectionTable, different: Sequence[ProgramRun]) -> str:
    """Whether the order in which sums are added explains that outputs are `different`."""
    if any(run.side == AS_IT_IS for run in different[1:]):
        return "runs without the files differ too: not only the files change what the program prints"
    called = different[0].moving_seconds.keys()
    rules = [rule for rule in table.for_files().rules_for(called) if OPERATIONS[rule.collective].reduces]
    if changing := [change_of_order(rule) for rule in rules if rule.reordered]:
        return f"the files explain other last digits of sums: {'; '.join(changing)}"
    if unknown := sorted({rule.collective for rule in rules if rule.reordered is None}):
        how = "`timpani tune … --same-order` reads it"
        return f"whether {listed(unknown)} then adds in another order, which would explain it, is unknown: {how}"
    return "no rule changes an order of addition where it was measured: sums do not explain the difference"


def ratio_words(compared: BlockComparison) -> str:
    """The ratio with its interval, if there are enough blocks for one."""
    blocks = counted(compared.blocks, "block")
    level = per_cent(1 - ALPHA)
    known = f"{level} interval {compared.low:.3f} to {compared.high:.3f}, {blocks}"
    few = f"{blocks}, too few: a verdict takes {MIN_BLOCKS}"
    return f"{compared.ratio:.3f} × as fast ({few if compared.standing == 'undecided' else known})"


def taken_out_lines(table: SelectionTable, slower: Sequence[str], found: ProgramComparison) -> Iterator[str]:
    """Which rules of `table` are taken out: those of the `slower` collectives, or all."""
    rules = Counter(rule.collective for rule in table.for_files().rules)
    for name in slower:
        alone = ratio_words(found.by_collective[name])
        yield f"taken out: {counted(rules[name], 'rule')} for {name}, which is SLOWER without waiting: {alone}"
    if not slower:
        setting = f" and the setting {table.setting.name}" if table.setting else ""
        yield (
            f"taken out: {counted(rules.total(), 'rule')}{setting}, all that were switched on: no collective with a "
            "rule is significantly slower without waiting"
        )
