"""`timpani run`: measure a study or the operations named."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from timpani.cli.job import PREFIX, job_script_of
from timpani.errors import UserError


def run(
    what: Annotated[
        list[str],
        typer.Argument(help="A study (its name or file), or operations: bcast scatter latency …", show_default=False),
    ],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The campaign's folder; the same command continues it.")
    ] = None,
    algorithms: Annotated[
        str | None, typer.Option(help="`all`, or a list: default,knomial,openmpi/chain:fanout=4.", show_default=False)
    ] = None,
    ranks: Annotated[str | None, typer.Option(help="2,4,8 or 2:256 (doubling) or 2:48+2.", show_default=False)] = None,
    sizes: Annotated[
        str | None, typer.Option(help="Bytes: 8,64Ki or 1:1Mi (doubling) or 1:4Ki+512.", show_default=False)
    ] = None,
    mpi: Annotated[
        str | None, typer.Option(help="openmpi, mpich, or a path; else the first found.", show_default=False)
    ] = None,
    pairs: Annotated[
        str | None,
        typer.Option(help="Ranks of point-to-point operations: first, all or distinct.", show_default=False),
    ] = None,
    on: Annotated[
        str | None,
        typer.Option(metavar="WHERE", help="A machine file, here, lab, slurm:PARTITION.", show_default=False),
    ] = None,
    hosts: Annotated[
        Path | None, typer.Option(help="A host file: which of the machine's nodes; else all.", show_default=False)
    ] = None,
    placement: Annotated[str | None, typer.Option(help="core, socket, node or ppr:N.", show_default=False)] = None,
    mode: Annotated[str | None, typer.Option(help="Cache: warm, rotate or flush.", show_default=False)] = None,
    method: Annotated[
        str | None, typer.Option(help="timpani, or osu: OSU's own protocol, for comparison.", show_default=False)
    ] = None,
    datatype: Annotated[str | None, typer.Option(help="uint8, int32, float or double.", show_default=False)] = None,
    launches: Annotated[
        int | None, typer.Option("--launches", "-n", help="Starts of the MPI program.", show_default=False)
    ] = None,
    precision: Annotated[
        float | None, typer.Option(help="Relative half-width of the median's interval that ends a cell.")
    ] = None,
    slot: Annotated[str | None, typer.Option(help="Longest time for a cell in a launch: 50ms, 1s.")] = None,
    budget: Annotated[str | None, typer.Option(help="Longest time for all: 90s, 10m, 2h.", show_default=False)] = None,
    seed: Annotated[int | None, typer.Option(help="Of the shuffled order.", show_default=False)] = None,
    iterations: Annotated[
        int | None,
        typer.Option("--iterations", "-i", help="Fixed; for collectives only with --method osu.", show_default=False),
    ] = None,
    warmup: Annotated[
        int | None,
        typer.Option("--warmup", "-x", help="Fixed; for collectives only with --method osu.", show_default=False),
    ] = None,
    rules: Annotated[
        Path | None,
        typer.Option(
            help="What `timpani rules` wrote: measured beside the others, as timpani/rules.", show_default=False
        ),
    ] = None,
    include_setup: Annotated[
        bool, typer.Option("--include-setup", help="Build communicators and plans of our algorithms in each call.")
    ] = False,
    oversubscribe: Annotated[bool, typer.Option("--oversubscribe", help="Allow more ranks than cores.")] = False,
    hang_after: Annotated[
        str | None, typer.Option(help="Silence after which a launch counts as hung.", show_default=False)
    ] = None,
    prove: Annotated[bool, typer.Option("--prove", help="Count each cell's messages, once more and untimed.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print cells, launches, time and commands; stop.")] = False,
) -> None:
    """Measure a study or the operations named, and say which algorithm is best where."""
    if on and on.startswith(PREFIX):
        from timpani.machine.submit import follow_job, submit

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
    from timpani.campaign.session import Session
    from timpani.machine.host_file import read_hosts
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
            "precision": precision,
            "slot": slot,
            "budget": budget,
            "seed": seed,
            "repetitions": iterations,
            "warmup": warmup,
            "include_setup": include_setup or None,
            "rules": str(rules.resolve()) if rules else None,
        },
    )
    patience = parse_duration(hang_after) if hang_after else None
    if hosts and not on:
        raise UserError("--hosts chooses nodes of a machine, and none is named", "name one with --on")
    machine = resolve(on, mpi) if on else None
    session = Session.prepare(study, mpi, oversubscribe, machine, read_hosts(hosts) if hosts else ())
    if dry_run:
        from timpani.report.dry_run import plan_lines

        typer.echo("\n".join(plan_lines(session.plan)))
        return
    if output is None:
        raise UserError("no folder to measure into", "name one with -o DIR")
    from timpani.cli.progress import progress

    with session.open(output) as store, progress(session.plan, len(store.done)) as observer:
        outcome = session.measure(store, observer, patience)
        if prove and outcome.ended == "complete":
            outcome = session.prove(store, observer, patience)
    from timpani.cli.ending import print_ending

    raise typer.Exit(print_ending(output, outcome, session.stopped))
