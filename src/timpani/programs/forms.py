"""What `show` and `prove` do with a profile."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from timpani.cli.terminal.completing import complete_campaign
from timpani.cli.terminal.forms import Form, ShownFormat, ShownOutput, print_or_write
from timpani.cli.terminal.options import Force, Format
from timpani.errors import UserError
from timpani.programs.commands import savings_of
from timpani.programs.pages.profile_document import (
    MESSAGE_WORDS,
    profile_csv,
    profile_document,
    profile_json,
    proven_lines,
    savings_document,
)
from timpani.programs.profile.profile_folder import is_profile, read_profile
from timpani.report.document.formats import FORMATS, render


@dataclass(frozen=True)
class Covered:
    """Campaigns that measured calls of the profile, as typed."""

    covered_by: Annotated[
        list[Path] | None,
        typer.Option(
            "--covered-by",
            metavar="CAMPAIGN",
            help="For a profile: what its calls would gain with the algorithms measured in this campaign. Repeat the "
            "option for several.",
            autocompletion=complete_campaign,
        ),
    ] = None


@dataclass(frozen=True)
class _Shown:
    """How the profile is shown, as typed."""

    format: ShownFormat = Format.text
    output: ShownOutput = None
    force: Force = False
    details: Annotated[
        bool, typer.Option("--details", help="Of a profile: every call, late ranks, and the longest calls.")
    ] = False


def _show(folder: Path, shown: _Shown, covered: Covered) -> None:
    print_or_write(_content(folder, shown, covered).encode(), shown.output, shown.force)


def _content(folder: Path, shown: _Shown, covered: Covered) -> str:
    profile = read_profile(folder)
    if covered.covered_by:
        document = savings_document(profile, savings_of(profile, covered.covered_by))
    elif shown.format is Format.csv:
        return profile_csv(profile)
    elif shown.format is Format.json:
        return profile_json(profile)
    else:
        document = profile_document(profile, shown.details or shown.format is not Format.text)
    if shown.format.value not in FORMATS:
        raise UserError(f"{folder} is a profile, and {shown.format.value} is for campaigns", "use text, csv or json")
    return render(document, shown.format.value)


def _prove(folder: Path) -> None:
    part = read_profile(folder).main_part
    if not part.sent:
        raise UserError(f"{folder} holds no counted messages", "count them: timpani profile --prove -o NEW -- mpirun …")
    for line in proven_lines(part, MESSAGE_WORDS.only("timpani prove")()):
        typer.echo(line)


def applies_to(folder: Path, _: Any) -> bool:
    return is_profile(folder)


SHOW = Form("a profile", applies_to, (_Shown, Covered), _show)
PROVE = Form("a profile", applies_to, (), _prove)
