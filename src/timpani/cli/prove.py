"""`timpani prove`: which algorithm stands behind the messages that were counted, of a campaign or of a program?"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from timpani.cli.terminal.options import Format, campaign_argument, format_option
from timpani.errors import UserError

if TYPE_CHECKING:
    from timpani.schedules.fingerprint import Fingerprints


def prove(
    folder: Annotated[Path, campaign_argument("What `timpani run --prove -o` or `timpani profile --prove -o` wrote.")],
    format: Annotated[Format, format_option("How to print the names.")] = Format.table,
) -> None:
    """Name the algorithm behind each cell's counted messages: the Timpani schedule that sends the same messages."""
    import json

    from timpani.campaign.folder.header import read_header
    from timpani.campaign.folder.load import read_proofs
    from timpani.campaign.read.swept_parameters import without_effect
    from timpani.programs.profile.profile_folder import is_profile
    from timpani.report.words.proofs import named_proofs, proof_table

    if is_profile(folder):
        _print_of_program(folder, format)
        return
    header = read_header(folder)
    proofs = read_proofs(folder)
    if not proofs:
        raise UserError(f"{folder} holds no counted messages", "count them: the same `timpani run` with --prove")
    named = named_proofs(proofs, _fingerprints(), header.study.element_bytes_of)
    if format is Format.json:
        typer.echo(json.dumps([line.as_json() for line in named], indent=2, ensure_ascii=False))
    else:
        typer.echo(proof_table(named))
    for text in without_effect(proofs):
        typer.echo(f"Warning: {text}", err=True)


def _fingerprints() -> "Fingerprints":
    from timpani.libraries.find import first_mpi
    from timpani.native.build import build_without_mpi
    from timpani.providers.own import own_catalogue
    from timpani.schedules.fingerprint import Fingerprints
    from timpani.schedules.simulation import Simulator

    mpi = first_mpi()
    return Fingerprints(Simulator(build_without_mpi(mpi)), own_catalogue(mpi))


def _print_of_program(folder: Path, format: Format) -> None:
    from timpani.programs.profile.profile_folder import read_profile
    from timpani.report.profiled.proven_text import proven_lines

    part = read_profile(folder).main_part
    if format is not Format.table:
        raise UserError(f"{folder} is a profile and its messages are printed as a table only", "leave out --format")
    if not part.sent:
        raise UserError(f"{folder} holds no counted messages", "count them: timpani profile --prove -o NEW -- mpirun …")
    for line in proven_lines(part, _fingerprints()):
        typer.echo(line)
