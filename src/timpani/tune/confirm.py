"""`timpani confirm`: whether tuning files keep their promise, measured anew."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from timpani.campaign.run.batch_jobs import JobStep, launches_of_job
from timpani.cli.job import asks_for_job, run_in_jobs, typed_words
from timpani.cli.terminal.completing import complete_tuned
from timpani.cli.terminal.forms import Form, options_of, run_form
from timpani.cli.terminal.measuring import print_plan
from timpani.cli.terminal.options import DryRun, FailOn, StudyOptions, expand, on_option, study_options
from timpani.judge.changes import ChangeLimit
from timpani.machine.detect import resolve
from timpani.slices import Hook
from timpani.study.cell import check_placement
from timpani.study.values import parse_duration
from timpani.tune.confirmation_study import confirmation_study
from timpani.tune.confirming import ConfirmedFrom, confirm_folder, table_and_campaign
from timpani.tune.workflow import ConfirmRequest, TimeBudget, confirmation_folder, prepare_confirmation

CONFIRM_FORMS: Hook[Form] = Hook("CONFIRM_FORMS")
"""Forms that apply where more than the folder is typed."""

_HOW = study_options(
    ("launches", "placement", "budget"),
    panel="How it is measured",
    shown={"launches": "the campaign's, 10 or more", "placement": "as the rules were measured", "budget": "none"},
)


@dataclass(frozen=True)
class _Where:
    """Where calls are measured, and when the exit status is 1, as typed."""

    on: Annotated[str | None, on_option("where the rules were measured")] = None
    dry_run: DryRun = False
    fail_on: FailOn = None


def _confirm_calls(folder: Path, study: StudyOptions, source: ConfirmedFrom, where: _Where) -> None:
    """Confirm the files in `folder` by measuring calls, here or in a job."""
    given, campaigns = study.given(), source.campaign or []
    limit = ChangeLimit.parse(where.fail_on) if where.fail_on is not None else None
    request = ConfirmRequest(
        given.get("launches"),
        source.mpi,
        placement=check_placement(given["placement"]) if "placement" in given else None,
        budget=TimeBudget(parse_duration(given["budget"]) if "budget" in given else None),
    )
    if where.on and asks_for_job(where.on):
        table, made_from, _ = table_and_campaign(folder, campaigns)
        confirmation_study(table, made_from, folder, request.launches, request.placement)  # before the job waits
        into = confirmation_folder(table, folder, request.placement)
        launches = launches_of_job(where.on, request.launches)
        made_in = campaigns or list(map(Path, table.campaigns))
        run_in_jobs(where.on, where.dry_run, [JobStep(typed_words(), into, launches, elsewhere=made_in)])
        return
    request = replace(request, machine=resolve(where.on, source.mpi) if where.on else None)
    if where.dry_run:
        table, made_from, _ = table_and_campaign(folder, campaigns)
        session, _ = prepare_confirmation(table, made_from, folder, request)
        print_plan(session.plan)
        return
    confirm_folder(folder, campaigns, request, limit)


_FORMS = (
    *CONFIRM_FORMS.added(),
    Form("tuning files", lambda folder, typed: True, (_HOW, ConfirmedFrom, _Where), _confirm_calls),
)


@expand(options=options_of(_FORMS))
def confirm(
    *,
    folder: Annotated[Path, typer.Argument(help="What `timpani tune` wrote.", autocompletion=complete_tuned)],
    options: Any,
) -> None:
    """Measure again what tuning files gain: at the measured sizes, where rules begin and end, and in between.

    Rules that lose are removed from the files, and the remaining rules are confirmed again. The same command continues
    where it was stopped. The exit status is 1 if no rule is left, if cells were abandoned, or if a point of any round
    changed as `--fail-on` describes.

    A program after `--` is run without and with the files, in random order. If it is slower with them, the rules that
    made it slower are removed, and the remaining rules are confirmed again. The exit status is 1 if the
    program was slower in the last round, or its output differs. `timpani confirm --variant 'NAME: SETTINGS' -- mpirun …
    ./program` runs it without and with settings.
    """
    run_form(_FORMS, folder, options)
