"""`timpani study`: a study as it was published and by Timpani's method, both in one table, and as a report in LaTeX."""

import io
from collections.abc import Iterator
from contextlib import nullcontext, redirect_stdout
from pathlib import Path
from typing import Annotated

import polars as pl
import typer

from timpani.campaign.folder.load import Campaign, load
from timpani.campaign.read.campaign_warnings import load_warnings
from timpani.campaign.read.message_locality import without_pairs
from timpani.campaign.read.study_names import by_statistic, with_study_names
from timpani.campaign.run.batch_jobs import JobStep
from timpani.cli.job import asks_for_job, place_named, run_in_jobs, typed_words
from timpani.cli.terminal.completing import complete_what
from timpani.cli.terminal.options import Format, document_format, document_text, output_option
from timpani.judge.cell_table import estimate_cells
from timpani.judge.raced import raced_results
from timpani.native.announce import announce, working
from timpani.report.document.blocks import Block, Document, DrawnFigure, Heading, Sentence, Table, Value, rows
from timpani.report.document.latex import PT_PER_MM, escaped, latex_of
from timpani.report.document.output_files import write_file
from timpani.report.figures.drawn_figures import FigureStyle
from timpani.report.page.contents import Report
from timpani.report.page.figure_files import find_figures, write_figures
from timpani.report.page.methods import methods_paragraph
from timpani.studies.claim_conditions import check_claims
from timpani.studies.comparison import claim_blocks, named_times
from timpani.studies.tables import Published, study_of
from timpani.study.operations import title_of
from timpani.study.schema import MEASURED_US
from timpani.study.words import two_decimals

METHODS = {"as-published": "osu", "by-timpani": "timpani"}
"""By the folders of the two campaigns the method of `timpani run`."""

EXAMPLES = """Examples:

timpani study pingpong-and-transpose -o messages

timpani study bcast-scatter-full-nodes --on slurm:THIN,nodes=2,tasks=24 -o mine"""


def study(
    context: typer.Context,
    name: Annotated[
        str, typer.Argument(help="A study (`timpani list studies`, or a file).", autocompletion=complete_what)
    ],
    output: Annotated[Path, output_option("The folder of both campaigns and of report.tex.")],
    format: Annotated[Format, document_format()] = Format.text,
) -> None:
    """Measure a study as it was published and by Timpani's method, and set both in one table.

    Takes all options of `timpani run`; the same command continues. The folder then has report.tex, which LaTeX
    compiles: methods, tables, figures and conclusions.
    """
    place, dry_run = place_named(context.args), "--dry-run" in context.args
    if place and asks_for_job(place):
        with redirect_stdout(io.StringIO()):  # what is wrong shows now, and not in the job
            context.find_root().command.main(["run", name, *context.args, "--dry-run"], standalone_mode=False)
        run_in_jobs(place, dry_run, [JobStep(typed_words(), output / "by-timpani", None)])
        return  # the job has written the report and printed the table
    for folder, method in METHODS.items():
        announce(f"{'planning' if dry_run else 'measuring'} {folder.replace('-', ' ')}")
        words = ["run", name, *context.args, "--method", method, "-o", str(output / folder)]
        with nullcontext() if dry_run else redirect_stdout(io.StringIO()):
            if status := context.find_root().command.main(words, standalone_mode=False):
                raise typer.Exit(status)
    if not dry_run:
        with working("setting both in one table and drawing the figures"):
            as_published, by_timpani = (with_study_names(load(output / folder)) for folder in METHODS)
            table = study_of(name)
            document = both_methods(as_published, by_timpani, table)
            paper = report_blocks(as_published, by_timpani, table, document, output)
            write_file(output / "report.tex", latex_report(document.title, [*paper]).encode(), force=True)
        typer.echo(document_text(document, format), nl=False)
        typer.echo(f"as a paper, with figures and conclusions: {output / 'report.tex'}", err=True)


_ON = ("collective", "label", "ranks", "placement", "message_bytes")


def both_methods(as_published: Campaign, by_timpani: Campaign, table: Published | None) -> Document:
    """How long each algorithm takes by both methods, next to the study's published times if `table` has some."""
    first, second = (_times(each) for each in (by_statistic(as_published, "osu"), by_timpani))
    cells = first.join(second, on=_ON, how="full", coalesce=True, suffix="_timpani").sort(_ON)
    printed = named_times(by_timpani, table).select("published_us", *(key for key in _ON if key != "placement"))
    cells = cells.join(printed, on=["collective", "label", "ranks", "message_bytes"], how="left")
    parts = cells.group_by("collective", "label", maintain_order=True)
    tables = (_table(part, f"{title_of(str(collective))}, {label}") for (collective, label), part in parts)
    about = "OSU's averages, measured as published, and Timpani's median completions, both in µs."
    launches = [*as_published.launches, *by_timpani.launches]
    loads = (Sentence("warning", f"Warning: {each}") for each in load_warnings(launches))
    return Document(by_timpani.header.study.title, (Sentence("methods", about), *loads, *tables))


def _times(campaign: Campaign) -> pl.DataFrame:
    cells = without_pairs(estimate_cells(raced_results(campaign)))
    return cells.select(*_ON, MEASURED_US.alias("us"), low="ci_low_us", high="ci_high_us")


def _table(cells: pl.DataFrame, caption: str) -> Table:
    placed, printed = cells["placement"].n_unique() > 1, cells["published_us"].is_not_null().any()
    columns = {
        "ranks": [Value(ranks) for ranks in cells["ranks"]],
        **({"placement": [Value(each) for each in cells["placement"]]} if placed else {}),
        "size (B)": [Value(size) for size in cells["message_bytes"]],
        **({"published": [Value(time, show=two_decimals) for time in cells["published_us"]]} if printed else {}),
        "as published": _intervals(cells, ""),
        "by Timpani": _intervals(cells, "_timpani"),
        "ratio": [Value(each, show="{:.3g}".format) for each in cells["us_timpani"] / cells["us"]],
    }
    about = "Ratio: by Timpani / as published."
    return Table("both-methods", tuple(columns), rows(zip(*columns.values(), strict=True)), caption, footnotes=(about,))


def _intervals(cells: pl.DataFrame, side: str) -> list[Value]:
    found = cells.select(f"us{side}", f"low{side}", f"high{side}").iter_rows()
    return [Value(time, low, high, show=two_decimals) for time, low, high in found]


_PREAMBLE = r"""\documentclass{article}
\ifdefined\pdfminorversion\pdfminorversion=7\fi  % of the figures
\usepackage[margin=25mm]{geometry}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{array,booktabs,float,graphicx,textcomp}
\floatplacement{table}{H}
\floatplacement{figure}{H}
"""
_LINE_MM = 160.0  # of A4 with these margins


def report_blocks(
    as_published: Campaign, by_timpani: Campaign, table: Published | None, document: Document, folder: Path
) -> Iterator[Block]:
    """The blocks of the report; writes the figures into `folder`."""
    yield Sentence("question", by_timpani.header.study.question)
    yield Heading("methods", "Methods")
    for title, campaign in (("As published", as_published), ("By Timpani", by_timpani)):
        yield Heading("method", title, level=3)
        yield Sentence("method", methods_paragraph(campaign.header, campaign.launches))
    yield Heading("figures", "Figures")
    report = Report(by_timpani)
    found = find_figures(report).asked
    write_figures(found, report, folder / "figures", force=True, style=FigureStyle(_LINE_MM, titled=False))
    for file in found:
        yield DrawnFigure(f"figures/{file.path}", file.choice.title, svg=str)
    if table:
        yield Heading("conclusions", "Conclusions")
        yield from claim_blocks(table, check_claims(table, by_timpani), by_timpani.statistic)
    yield Heading("tables", "Tables")
    yield from document.blocks


def latex_report(title: str, blocks: list[Block]) -> str:
    """A document that LaTeX compiles."""
    head = f"{_PREAMBLE}\\title{{{escaped(title)}}}\n\\date{{}}\n\\begin{{document}}\n\\maketitle\n"
    return f"{head}\n{latex_of(blocks, _LINE_MM * PT_PER_MM)}\n\\end{{document}}\n"
