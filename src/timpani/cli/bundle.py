"""`timpani bundle`: a campaign as one file."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from timpani.cli.terminal.named_campaigns import campaign_or_newest
from timpani.cli.terminal.options import Campaign, Force, output_option

if TYPE_CHECKING:
    from timpani.campaign.folder.load import Campaign as LoadedCampaign


def bundle(
    folder: Campaign = None,
    output: Annotated[
        Path | None,
        output_option("The file to write.", "the folder's name, .timpani.zip"),
    ] = None,
    anonymize: Annotated[
        bool, typer.Option("--anonymize", help="Write pseudonyms for the names of hosts, users and switches.")
    ] = False,
    force: Force = False,
) -> None:
    """Pack a campaign into one file: records, raw samples, report, checksums. Commands that read campaigns open it.

    Without `--anonymize` it holds names of hosts, users and paths, as the campaign does.
    """
    from timpani.campaign.folder.bundle import SUFFIX, pack
    from timpani.campaign.folder.load import load
    from timpani.campaign.folder.verify import sample_warnings
    from timpani.report.page.page import render
    from timpani.report.words.output_files import check_new, write_file

    place = campaign_or_newest(folder)
    file = output or Path(f"{place.resolve().name.removesuffix(SUFFIX)}{SUFFIX}")
    check_new(file, force)  # before the work
    campaign = load(place)
    for text in sample_warnings(campaign):
        typer.echo(f"Warning: {text}", err=True)
    if anonymize:
        file = _pack_anonymized(campaign, file, given=output is not None, force=force)
    else:
        write_file(file, pack(campaign.folder, render(campaign).encode()), force)
    typer.echo(f"{file} ({file.stat().st_size / 1e6:.1f} MB): `timpani report {shlex.quote(str(file))}` opens it")


def _pack_anonymized(campaign: "LoadedCampaign", file: Path, *, given: bool, force: bool) -> Path:
    """Write the bundle with pseudonyms for names, which a name not `given` is free of, too; returns its path."""
    from functools import partial
    from tempfile import TemporaryDirectory

    from timpani.campaign.folder.bundle import bundle_name, pack
    from timpani.campaign.folder.load import load
    from timpani.campaign.share.anonymize import anonymous_copy, refuse_names
    from timpani.report.page.page import render
    from timpani.report.words.output_files import write_file
    from timpani.study.words import counted

    with TemporaryDirectory(prefix="timpani-anonymous-") as temporary:
        copy = Path(temporary) / "copy"
        copy.mkdir()
        names = anonymous_copy(campaign.folder, copy)
        file = file if given else file.with_name(names.replaced(file.name))
        copy = copy.rename(copy.with_name(names.replaced(bundle_name(file))))  # a report without title names it
        report = render(load(copy)).encode()
        write_file(file, pack(copy, report, partial(refuse_names, names=names)), force)
    replaced = ", ".join(counted(count, kind) for kind, count in names.counts.items() if count)
    typer.echo(f"pseudonyms for {replaced}", err=True)
    if names.words:
        words = ", ".join(sorted(names.words))
        typer.echo(f"Note: these names are common words, which other texts keep: {words}", err=True)
    return file
