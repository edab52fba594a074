"""`timpani run`: measure a study or the operations named."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from timpani.cli.terminal.default_folder import folder_of_today
from timpani.cli.terminal.slurm_request import PREFIX, job_script_of
from timpani.errors import UserError
from timpani.study.defaults import DEFAULT_RANKS, DEFAULT_SIZES

_WHAT, _WHERE, _HOW_WELL, _FURTHER = "What is measured", "Where", "How long and how precisely", "Further"


EXAMPLES = """Examples:

timpani run demo

timpani run bcast allreduce --ranks 2,4,8 --sizes 1:1M -o mine

timpani run bcast --algorithms default,binomial,timpani/circulant --launches 8

timpani run latency bandwidth --on lab"""


def run(
    what: Annotated[
        list[str],
        typer.Argument(
            help="A study (`timpani list studies`, or a file), or operations: bcast scatter latency …",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="The campaign's folder; the same command continues it.",
            show_default="named after the study and the day",
        ),
    ] = None,
    algorithms: Annotated[
        str | None,
        typer.Option(
            help="`all`, or a list: default,knomial,openmpi/chain:fanout=2:8.",
            show_default="all, or the study's",
            rich_help_panel=_WHAT,
        ),
    ] = None,
    ranks: Annotated[
        str | None,
        typer.Option(
            "--ranks",
            "-n",
            "-np",
            help="2,4,8 or 2:256 (doubling) or 2:48+2.",
            show_default=f"{DEFAULT_RANKS}, or the study's",
            rich_help_panel=_WHAT,
        ),
    ] = None,
    sizes: Annotated[
        str | None,
        typer.Option(
            help="Bytes: 8,64K or 1:1M (doubling) or 1:4K+512.",
            show_default=f"{DEFAULT_SIZES}, or the study's",
            rich_help_panel=_WHAT,
        ),
    ] = None,
    datatype: Annotated[
        str | None,
        typer.Option(help="uint8, int32, float or double.", show_default="uint8", rich_help_panel=_WHAT),
    ] = None,
    pairs: Annotated[
        str | None,
        typer.Option(
            help="Ranks of point-to-point operations: first, all or distinct.",
            show_default="first",
            rich_help_panel=_WHAT,
        ),
    ] = None,
    mode: Annotated[
        str | None, typer.Option(help="Cache: warm, rotate or flush.", show_default="warm", rich_help_panel=_WHAT)
    ] = None,
    rules: Annotated[
        Path | None,
        typer.Option(
            help="What `timpani rules` wrote: measured beside the others, as timpani/rules.",
            show_default=False,
            rich_help_panel=_WHAT,
        ),
    ] = None,
    include_setup: Annotated[
        bool,
        typer.Option(
            "--include-setup",
            help="Build communicators and plans of our algorithms, and of composed ones, in each call.",
            rich_help_panel=_WHAT,
        ),
    ] = False,
    no_probe: Annotated[
        bool,
        typer.Option(
            "--no-probe",
            help="Don't look at the state of the machine before and after each point (20 µs each).",
            rich_help_panel=_HOW_WELL,
        ),
    ] = False,
    mpi: Annotated[
        str | None,
        typer.Option(
            help="openmpi, mpich, intel, or a path (`timpani list mpis`).",
            show_default="the first found",
            rich_help_panel=_WHERE,
        ),
    ] = None,
    on: Annotated[
        str | None,
        typer.Option(
            metavar="WHERE",
            help="A machine file, here, lab, slurm:PARTITION.",
            show_default="this computer",
            rich_help_panel=_WHERE,
        ),
    ] = None,
    hosts: Annotated[
        Path | None,
        typer.Option(
            help="A host file: which of the machine's nodes.", show_default="all of them", rich_help_panel=_WHERE
        ),
    ] = None,
    placement: Annotated[
        str | None,
        typer.Option(help="core, socket, node or ppr:N.", show_default="core", rich_help_panel=_WHERE),
    ] = None,
    oversubscribe: Annotated[
        bool, typer.Option("--oversubscribe", help="Allow more ranks than cores.", rich_help_panel=_WHERE)
    ] = False,
    launches: Annotated[
        int | None,
        typer.Option(
            help="Starts of the MPI program: the unit of replication; of a race at most, and 32 unless given,"
            " 64 with a budget.",
            show_default="10",
            rich_help_panel=_HOW_WELL,
        ),
    ] = None,
    regret: Annotated[
        str | None,
        typer.Option(
            help="Race: measure on only what may still be the best, until choosing costs at most so much, 2%, or"
            " launches would hardly show it; with a budget as long as that lasts.",
            show_default="everything in all launches",
            rich_help_panel=_HOW_WELL,
        ),
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option(help="Longest time for everything: 90s, 10m, 2h.", show_default="none", rich_help_panel=_HOW_WELL),
    ] = None,
    starts: Annotated[
        str | None,
        typer.Option(
            help="shared: smaller rank counts run on the first ranks of a larger start, while the others sleep.",
            show_default="separate",
            rich_help_panel=_HOW_WELL,
        ),
    ] = None,
    precision: Annotated[
        float | None,
        typer.Option(
            help="A cell ends when the 95 % interval of its median is this narrow: half its width over the median.",
            show_default="0.05",
            rich_help_panel=_HOW_WELL,
        ),
    ] = None,
    slot: Annotated[
        str | None,
        typer.Option(
            help="Longest time for a cell in a launch: 50ms, 1s.", show_default="100ms", rich_help_panel=_HOW_WELL
        ),
    ] = None,
    iterations: Annotated[
        int | None,
        typer.Option(
            "--iterations",
            "-i",
            help="A fixed number of repetitions; of collectives only with --method osu.",
            show_default="until precise",
            rich_help_panel=_HOW_WELL,
        ),
    ] = None,
    warmup: Annotated[
        int | None,
        typer.Option(
            "--warmup",
            "-x",
            help="A fixed number of calls before; of collectives only with --method osu.",
            show_default="until steady",
            rich_help_panel=_HOW_WELL,
        ),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            help="timpani, or osu: OSU's own protocol, for comparison.",
            show_default="timpani",
            rich_help_panel=_HOW_WELL,
        ),
    ] = None,
    prove: Annotated[
        bool,
        typer.Option("--prove", help="Count each cell's messages in one more, untimed call.", rich_help_panel=_FURTHER),
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Print cells, launches, time and commands; stop.", rich_help_panel=_FURTHER),
    ] = False,
    hang_after: Annotated[
        str | None,
        typer.Option(
            help="Silence after which a launch counts as hung.", show_default="30s at least", rich_help_panel=_FURTHER
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Seed of the measurement order.", show_default="1", rich_help_panel=_FURTHER)
    ] = None,
) -> None:
    """Measure a study or the operations named, and say which algorithm is best where."""
    folder = output or folder_of_today(what)
    if on and on.startswith(PREFIX):
        from timpani.machine.launchers.submit import follow_job, submit

        text = job_script_of(on, output, what, launches, sys.argv[2:])
        if dry_run:
            typer.echo(text, nl=False)
            return
        number = submit(text)
        typer.echo(f"job {number}; `scancel {number}` ends it, and it goes on when this command is stopped", err=True)
        ended = follow_job(number)
        if ended <= {"COMPLETED"}:
            return
        typer.echo(f"job {number}: {', '.join(sorted(ended)).lower()}; the same command goes on", err=True)
        raise typer.Exit(1)
    from timpani.campaign.run.session import Session
    from timpani.machine.nodes.host_file import read_hosts
    from timpani.machine.where import resolve
    from timpani.study.compose import compose
    from timpani.study.study import parse_duration

    study = compose(
        what,
        {
            "algorithms": algorithms,
            "ranks": ranks,
            "sizes": sizes,
            "pairs": pairs,
            "placement": placement,
            "mode": mode,
            "method": method,
            "datatype": datatype,
            "launches": launches,
            "regret": regret,
            "starts": starts,
            "precision": precision,
            "slot": slot,
            "budget": budget,
            "seed": seed,
            "repetitions": iterations,
            "warmup": warmup,
            "include_setup": include_setup or None,
            "probe": False if no_probe else None,
            "rules": str(rules.resolve()) if rules else None,
        },
    )
    timeout = parse_duration(hang_after) if hang_after else None
    if hosts and not on:
        raise UserError("--hosts chooses nodes of a machine, and no machine is named", "name one with --on")
    machine = resolve(on, mpi) if on else None
    session = Session.prepare(study, mpi, oversubscribe, machine, read_hosts(hosts) if hosts else ())
    if dry_run:
        from timpani.report.words.dry_run import plan_lines

        typer.echo("\n".join(plan_lines(session.plan)))
        return
    if output is None:
        typer.echo(f"measuring into {folder}", err=True)
    from timpani.cli.terminal.ending import print_ending
    from timpani.cli.terminal.measuring import measure

    outcome = measure(session, folder, (lambda cell: True) if prove else None, timeout)

    raise typer.Exit(print_ending(folder, outcome, session.stopped))
