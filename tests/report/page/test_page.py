"""The report of a campaign: its sections and figures as objects, the page that holds them, and files."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import vl_convert

from tests.campaign_files import NOISE, cells, made_up, results_of
from tests.report.conftest import (
    ALGORITHMS,
    HOSTILE_TITLE,
    RANKS,
    SIZES,
    synthetic_header,
    synthetic_launches,
    write_campaign,
)
from timpani.campaign.folder.header import Header
from timpani.campaign.folder.launch_result import LaunchResult
from timpani.campaign.folder.load import Campaign, load
from timpani.report.page.contents import Report
from timpani.report.page.figure_files import find_figures
from timpani.report.page.methods import job_lines, methods_paragraph
from timpani.report.page.sections import PageSection, sections
from timpani.study.cell import Algorithm, Cell
from timpani.study.values import FigureChoice

pytestmark = pytest.mark.slow


class Page(HTMLParser):
    """What a browser would find: elements with attributes, texts outside scripts, and the scripts."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.headings: list[tuple[str, str]] = []
        self.scripts: list[str] = []
        self.words: list[str] = []
        self._open: list[str] = []
        self.feed(html.replace("<wbr>", ""))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attributes}))
        self._open.append(tag)
        if tag == "script":
            self.scripts.append("")
        if re.fullmatch("h[1-6]", tag):
            self.headings.append((tag, ""))

    def handle_endtag(self, tag: str) -> None:
        if tag in self._open:
            del self._open[len(self._open) - 1 - self._open[::-1].index(tag) :]

    def handle_data(self, data: str) -> None:
        if "script" in self._open:
            self.scripts[-1] += data
        elif "style" not in self._open:
            self.words.append(data)
            if self._open and re.fullmatch("h[1-6]", self._open[-1]):
                level, text = self.headings[-1]
                self.headings[-1] = (level, text + data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    @property
    def data(self) -> Any:
        return json.loads(self.scripts[0])


@pytest.fixture(scope="module")
def page(html: str) -> Page:
    return Page(html)


@pytest.fixture(scope="module")
def report(campaign: Campaign) -> Report:
    return Report(campaign)


def campaign_of(folder: Path, results: list[LaunchResult], **header: Any) -> Campaign:
    return load(write_campaign(folder, {**synthetic_header(), **header}, results, []))


def one(name: str = "default", launches: int = 1, **values: Any) -> list[LaunchResult]:
    cell = Cell("bcast", Algorithm("openmpi", name), 2, "core", 8, "warm")
    return [LaunchResult(cell, launch, "desk", **values) for launch in range(1, launches + 1)]


def small(results: list[LaunchResult]) -> Iterator[LaunchResult]:
    return (r for r in results if r.cell.collective == "scatter" and r.cell.ranks < 8 and r.cell.message_bytes <= 4)


def sections_of(report: Report) -> dict[str, PageSection]:
    return {each.id: each for each in sections(report, ["Warning: busy"], {})}


def test_a_section_that_could_be_there_and_is_not_says_why(tmp_path: Path) -> None:
    alone = sections_of(Report(campaign_of(tmp_path / "c", one(median_us=1.0, ci_low_us=0.9, ci_high_us=1.1))))
    assert {each.id: each.absent for each in alone.values() if each.absent and not each.shown} == {
        "speedup": "no algorithm was timed in addition to the default",
        "gains": "one algorithm was measured",
        "ranks": "one rank count was measured",
        "placements": "one placement was measured",
        "map": "one rank count was measured",
        "likeness": "one algorithm was measured",
        "spread": "nothing was measured in several launches",
    }
    assert {"size", "tables", "knees"} <= {name for name, each in alone.items() if each.shown}


def test_the_page_is_well_formed_and_loads_nothing(page: Page) -> None:
    levels = [int(level[1]) for level, _ in page.headings]
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    links = [attributes["href"] for tag, attributes in page.elements if tag == "a"]
    assert len(ids) == len(set(ids))
    assert links
    assert {link.removeprefix("#") for link in links} <= set(ids)
    assert not [tag for tag, _ in page.elements if tag in {"link", "img", "iframe", "object", "base"}]
    assert not [attributes for _, attributes in page.elements if "src" in attributes]
    (policy,) = [a["content"] for _, a in page.elements if a.get("http-equiv") == "Content-Security-Policy"]
    assert policy.startswith("default-src 'none'")
    assert len(page.scripts) == 3
    assert sum(len(script.encode()) for script in page.scripts[1:]) < 2_000_000


def test_each_operation_has_each_figure_of_data_that_the_page_has_once(page: Page) -> None:
    cells = page.data["tables"]["cells"]
    assert len(cells["median_us"]) == 2 * 6 * len(RANKS) * len(SIZES)
    names = (
        "latency-against-size",
        "latency-against-ranks",
        "algorithm-map",
        "speedup",
        "spread",
        "fitted",
    )
    assert {f"{name}-{collective}" for name in names for collective in ALGORITHMS} <= set(page.data["panels"])
    for panel in page.data["panels"].values():
        assert panel["specification"]["data"] == {"name": "rows"}
        assert "datasets" not in panel["specification"]
        for specification in (panel["specification"], panel.get("linear", panel["specification"])):
            assert vl_convert.vegalite_to_vega(specification)["marks"]


def test_the_page_shows_verdict_statuses_failures_and_what_was_left_out(page: Page) -> None:
    assert re.search(
        r"default is fine at \d+ of 72 points; at \d+ another algorithm is faster, up to 1\.9\d times; \d+ are",
        page.text,
    )
    assert re.search(r"bcast at 4 MiB on \d ranks: scatter_allgather, 1\.9\d times as fast", page.text)
    assert "Left out (1) bcast openmpi/chain at 1 rank: it needs two" in page.text
    assert "How to switch an algorithm on is not recorded" in page.text
    assert "n: not converged, w: wide, s: skewed, o: oversubscribed, f: failed" in page.text
    assert "Broadcast, linear, 2 ranks, 4 MiB rank 1: <lost> its peer" in page.text
    chosen = [attributes["value"] for tag, attributes in page.elements if tag == "option" and "selected" in attributes]
    assert "4" in chosen  # the largest rank count with a core for each
    assert "8" not in chosen


def test_each_job_is_named_with_its_nodes_and_launches() -> None:
    def job(number: str, system: str, *nodes: str) -> Any:
        when = "2026-11-28T12:00:00+00:00"
        return {"job": number, "machine": "here", "system": system, "name": "holt", "nodes": nodes, "started": when}

    times = cells({"default": {8: 10.0}})
    in_jobs = [replace(each, job="7" if each.launch < 3 else "8") for each in results_of(times, NOISE[:3])]
    jobs = (job("7", "Slurm", "n1", "n2"), job("8", "Slurm", "n3"), job("later", "", "n9"))
    assert job_lines(replace(made_up(in_jobs), jobs=jobs)) == [
        "holt, 7 of Slurm: n[1-2]; launches 1-2",
        "holt, 8 of Slurm: n3; launches 3",
    ]


def test_a_hostile_title_stays_text(strange_html: str) -> None:
    page = Page(strange_html)
    assert len(page.scripts) == 3
    assert page.headings[0] == ("h1", HOSTILE_TITLE)
    assert not [tag for tag, _ in page.elements if tag == "b"]


def checked(values: dict[str, Any]) -> Header:
    return Header.check({"id": "made-up", **values}, "test")


def test_the_methods_paragraph_follows_the_study() -> None:
    text = methods_paragraph(checked(synthetic_header()), synthetic_launches())
    cited = ("Hunold & Carpen-Amarie", "Hoefler & Belli")
    for part in ("Open MPI 5.0.11", "6 launches", "An empty call took", "seed 1", "46 ns", *cited):
        assert part in text
    assert "confidence interval over launches (Hoefler & Belli, SC'15) that covers at least 95 % (96.9 % with 6" in text
    header = synthetic_header()
    header["study"] |= {"method": "osu", "warmup": 200, "repetitions": 1000}
    osu = methods_paragraph(checked(header), [])
    assert "200 warm-up calls and 1000 timed calls" in osu
    assert "Round-Time" not in osu
    raced = synthetic_header()
    raced["study"] |= {"regret": 0.02}
    text = methods_paragraph(checked(raced), synthetic_launches())
    assert "a race that accepts a regret of 2 %" in text
    assert "that covers at least 95 % from six launches on" in text
    assert "Holm" not in text
    assert methods_paragraph(checked({}), []) == "The times were measured elsewhere and imported by Timpani."


@pytest.mark.parametrize(
    ("launches", "says"),
    [
        (10, "at least 95 % (97.9 % with 10 launches)"),
        (4, "covers 87.5 % with 4 launches"),
        (1, "which has no interval"),
    ],
)
def test_the_methods_paragraph_says_what_intervals_cover(launches: int, says: str) -> None:
    header = synthetic_header()
    header["study"] |= {"launches": launches}
    text = methods_paragraph(checked(header), [], fewest=launches - 1)
    assert says in text
    assert (f"Some cells have fewer launches, at least {launches - 1}." in text) == (launches > 1)


def asking(campaign: Campaign, **figures: FigureChoice) -> Report:
    """The report of a campaign whose study asks for these figures."""
    study = campaign.header.study.model_copy(
        update={"figures": {name.replace("_", "-"): choice for name, choice in figures.items()}}
    )
    return Report(replace(campaign, header=campaign.header.model_copy(update={"study": study})))


def test_a_study_gets_the_figures_that_it_asks_for(campaign: Campaign) -> None:
    report = asking(
        campaign,
        latency_by_ranks=FigureChoice(algorithms=("default",)),
        latency_against_ranks=FigureChoice(sizes=(4, 12345)),
        message_latency=FigureChoice(),
    )
    found = find_figures(report)
    assert [str(file.path) for file in found.asked] == [
        "latency-by-ranks/bcast-default",
        "latency-by-ranks/scatter-default",
        "latency-against-ranks/bcast-4-B",
        "latency-against-ranks/scatter-4-B",
    ]
    assert "latency-against-size/bcast-2-ranks" in {str(file.path) for file in found.others}
    assert found.missing == [
        "latency-against-ranks at 12345 B: not measured",
        "message-latency: nothing to draw it from was measured",
    ]
