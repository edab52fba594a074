"""`timpani confirm`: whether tuning files keep their promise, measured anew."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from timpani.cli.terminal.confirming import confirm_folder, table_and_campaign
from timpani.cli.terminal.job_request import asks_for_job, run_as_job
from timpani.cli.terminal.options import DryRun, StudyOptions, expand, study_options


@expand(
    study=study_options(
        ("launches", "placement", "budget"),
        panel="How it is measured",
        shown={"launches": "the campaign's, 10 or more", "placement": "as the rules were measured", "budget": "none"},
    )
)
def confirm(
    *,
    folder: Annotated[Path, typer.Argument(help="What `timpani tune` wrote.", show_default=False)],
    study: StudyOptions,
    campaign: Annotated[
        list[Path] | None,
        typer.Option(help="A campaign that the rules were made from.", show_default="where they were"),
    ] = None,
    mpi: Annotated[
        str | None, typer.Option(help="The library, where it isn't found by itself.", show_default=False)
    ] = None,
    on: Annotated[
        str | None,
        typer.Option(
            metavar="WHERE",
            help="A machine file, here, lab, or slurm:PARTITION,nodes=2,time=1:00:00: a job (`timpani script --help`).",
            show_default="where the rules were measured",
        ),
    ] = None,
    dry_run: DryRun = False,
) -> None:
    """Measure anew what tuning files gain: at their rules' edges, at measured sizes, and at sizes between.

    Rules that lose are taken out of the files, and what is left is confirmed again. The same command goes on where it
    was stopped. The exit status is 1 where no rule is left, or cells were given up.
    """
    from timpani.machine.where import resolve
    from timpani.rules.time_budget import TimeBudget
    from timpani.rules.workflow import ConfirmRequest, prepare_confirmation
    from timpani.study.placement import check_placement
    from timpani.study.values import parse_duration

    given = study.given()
    request = ConfirmRequest(
        given.get("launches"),
        mpi,
        placement=check_placement(given["placement"]) if "placement" in given else None,
        budget=TimeBudget(parse_duration(given["budget"]) if "budget" in given else None),
    )
    if on and asks_for_job(on):
        table_and_campaign(folder, campaign or [])
        run_as_job(on, dry_run)
        return
    request = replace(request, machine=resolve(on, mpi) if on else None)
    if dry_run:
        from timpani.report.words.dry_run import plan_lines

        table, made_from, _ = table_and_campaign(folder, campaign or [])
        typer.echo("\n".join(plan_lines(prepare_confirmation(table, made_from, folder, request).plan)))
        return
    confirm_folder(folder, campaign or [], request)
