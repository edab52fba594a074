"""`timpani prove`: which algorithm stands behind the messages that were counted?"""

from pathlib import Path
from typing import Annotated

import typer

from timpani.cli.terminal.completing import complete_campaign
from timpani.cli.terminal.options import Format, format_option


def prove(
    folder: Annotated[
        Path,
        typer.Argument(
            help="What `timpani run --prove -o` wrote.", show_default=False, autocompletion=complete_campaign
        ),
    ],
    format: Annotated[Format, format_option("How to print the names.")] = Format.table,
) -> None:
    """Name the algorithm behind each cell's counted messages: the Timpani schedule that sends the same."""
    import json

    from timpani.campaign.folder.header import read_header
    from timpani.campaign.folder.load import read_proofs
    from timpani.campaign.read.swept_parameters import without_effect
    from timpani.errors import UserError
    from timpani.libraries.find import first_mpi
    from timpani.native.build import build_without_mpi
    from timpani.providers.own import own_catalogue
    from timpani.report.words.proofs import named_proofs, proof_table
    from timpani.schedules.fingerprint import Fingerprints
    from timpani.schedules.simulation import Simulator

    header = read_header(folder)
    proofs = read_proofs(folder)
    if not proofs:
        raise UserError(f"{folder} holds no counted messages", "count them: the same `timpani run` with --prove")
    mpi = first_mpi()
    fingerprints = Fingerprints(Simulator(build_without_mpi(mpi)), own_catalogue(mpi))
    named = named_proofs(proofs, fingerprints, header.study.element_bytes_of)
    if format is Format.json:
        typer.echo(json.dumps([line.as_json() for line in named], indent=2, ensure_ascii=False))
    else:
        typer.echo(proof_table(named))
    for text in without_effect(proofs):
        typer.echo(f"Warning: {text}", err=True)
