import json
import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import altair as alt
import pytest
import vl_convert

from tests.cli.typed import typed
from tests.report.conftest import (
    ALGORITHMS,
    HOSTILE_TITLE,
    RANKS,
    SIZES,
    synthetic_header,
    synthetic_launches,
    synthetic_results,
    write_campaign,
)
from timpani.campaign.folder.header import Header
from timpani.campaign.folder.launch_result import LaunchResult
from timpani.campaign.folder.load import Campaign, load
from timpani.campaign.osu.log_import import BenchmarkLog, import_logs
from timpani.errors import UserError
from timpani.report.figures.columns import SIZE_SERIES
from timpani.report.figures.interval_bars import HOW_CUT
from timpani.report.page.contents import Report
from timpani.report.page.figure_files import INDEX, find_figures, write_figures
from timpani.report.page.methods import methods_paragraph
from timpani.report.page.page import render
from timpani.report.page.provenance import provenance
from timpani.report.tables.algorithm_tables import significant
from timpani.report.words.drawn_figures import AS_IN_THE_REPORT, FigureStyle
from timpani.studies.tables import import_published
from timpani.study.cell import Algorithm, Cell
from timpani.study.schema import NODE_RANKS, SWITCH_RANKS
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


def campaign_of(folder: Path, results: list[LaunchResult], **header: Any) -> Campaign:
    return load(write_campaign(folder, {**synthetic_header(), **header}, results, []))


def one(name: str = "default", launches: int = 1, **values: Any) -> list[LaunchResult]:
    cell = Cell("bcast", Algorithm("openmpi", name), 2, "core", 8, "warm")
    return [LaunchResult(cell, launch, "desk", **values) for launch in range(1, launches + 1)]


def test_the_answer_comes_first_then_warnings_and_provenance_last(page: Page) -> None:
    expected = [
        "Verdict",
        "Speed-up against the default",
        "What to switch on",
        "Before you believe it",
        "Latency against size",
        "Latency against ranks",
        "Best algorithm by ranks and size",
        "Tables",
        "Which algorithm behaves most like the default",
        "Where curves leave their flat part",
        "Models: latency, throughput, switches",
        "Spread between launches",
        "Provenance and methods",
    ]
    found = [text for level, text in page.headings if level == "h2"]
    assert [text for text in found if text in expected] == expected
    assert (found[0], found[-1]) == (expected[0], expected[-1])


def test_equal_algorithms_are_switched_on_under_one_name(tmp_path: Path) -> None:
    times = {"default": 3.0, "binomial": 1.0, "linear": 1.0}
    results = [result for name, time in times.items() for result in one(name, launches=12, median_us=time)]
    html = render(campaign_of(tmp_path / "equal", results))
    gains = html.split('id="gains"')[1].split("</section>")[0]
    assert "binomial = linear" in gains
    assert "binomial or linear" not in gains


def test_the_contents_say_why_a_section_that_could_be_there_is_not(tmp_path: Path, page: Page) -> None:
    alone = Page(render(campaign_of(tmp_path / "c", one(median_us=1.0)))).text
    absent = {
        "Speed-up against the default": "no algorithm was timed in addition to the default",
        "What to switch on": "one algorithm was measured",
        "Latency against ranks": "one rank count was measured",
        "Placements compared": "one placement was measured",
        "Best algorithm by ranks and size": "one rank count was measured",
        "Which algorithm behaves most like the default": "one algorithm was measured",
        "Spread between launches": "nothing was measured in several launches",
    }
    assert f"Not here: {'; '.join(f'{title} ({why})' for title, why in absent.items())}." in alone
    assert "Not here: Placements compared (one placement was measured)." in page.text


def test_machine_library_date_and_command_stand_at_the_top(page: Page) -> None:
    top = page.text[: page.text.index("Verdict")]
    for text in ("desk, Example CPU, 4 cores", "Open MPI 5.0.11", "2025-01-31", "timpani run demo -o campaign"):
        assert text in top


def test_a_caption_has_at_most_two_sentences_and_what_they_share_stands_once(html: str, page: Page) -> None:
    captions = re.findall(r'-title">[^<]*</h2>\s*<p>(.*?)</p>', html, re.DOTALL)
    assert len(captions) >= 9
    assert all(len(re.findall(r"[.:)]\s+[A-Z]|\.$", caption)) <= 2 for caption in captions), captions
    assert page.text.count(HOW_CUT) == page.text.count("the default is black") == 1


def test_a_map_of_a_single_rank_count_is_left_out(tmp_path: Path) -> None:
    results = [r for r in synthetic_results() if r.cell.ranks == 2 and r.cell.collective == "scatter"]
    panels = Page(render(campaign_of(tmp_path / "c", results))).data["panels"]
    assert "speedup-scatter" in panels
    assert "algorithm-map-scatter" not in panels


def test_neighboring_sizes_with_the_same_winner_are_one_row_of_what_to_switch_on(html: str) -> None:
    gains = html[html.index('id="gains-title"') : html.index('id="caveats-title"')]
    assert re.search(r"4 ranks, 64 KiB to 4 MiB</th><td>1\.\d\d to 1\.99<small>at 4 sizes</small>", gains)
    assert re.search(r"4 ranks, 16 KiB</th><td>1\.1\d<small>interval 1\.\d\d to 1\.\d\d</small>", gains)


def test_an_algorithm_for_which_nothing_is_decided_is_a_line_of_text(html: str) -> None:
    lines = re.findall(r'<p class="undecided key">([^<]*)<span>([^<]*)</span>', html)
    assert lines == [("No difference from the default is shown at any size: ", "binomial")] * 2
    figure = html[html.index('data-panel="speedup-bcast"') : html.index('data-panel="speedup-scatter"')]
    assert ">scatter_allgather</text>" in figure
    assert ">binomial</text>" not in figure


def test_figures_are_in_the_page_as_drawings_up_to_a_size(
    html: str, campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = re.findall(r'<div class="chart"><svg ', html)
    assert len(drawn) == html.count("<figure ")
    monkeypatch.setattr("timpani.report.page.page._MAX_STATIC_BYTES", 50_000)
    few = render(campaign)
    assert 0 < few.count('<div class="chart"><svg ') < len(drawn)
    assert few.count("Only a browser with JavaScript shows") == len(drawn) - few.count('<div class="chart"><svg ')


def test_headings_skip_no_level_and_there_is_one_title(page: Page) -> None:
    levels = [int(level[1]) for level, _ in page.headings]
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_every_link_leads_to_a_place_on_the_page(page: Page) -> None:
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    links = [attributes["href"] for tag, attributes in page.elements if tag == "a"]
    assert len(ids) == len(set(ids))
    assert links
    assert {link.removeprefix("#") for link in links} <= set(ids)


def test_nothing_is_loaded_from_elsewhere(page: Page) -> None:
    assert not [tag for tag, _ in page.elements if tag in {"link", "img", "iframe", "object", "base"}]
    assert not [attributes for _, attributes in page.elements if "src" in attributes]
    (policy,) = [a["content"] for _, a in page.elements if a.get("http-equiv") == "Content-Security-Policy"]
    assert policy.startswith("default-src 'none'")


def test_library_code_is_under_two_megabytes(page: Page) -> None:
    assert len(page.scripts) == 3
    assert sum(len(script.encode()) for script in page.scripts[1:]) < 2_000_000


def test_data_are_embedded_once(page: Page) -> None:
    cells = page.data["tables"]["cells"]
    assert len(cells["median_us"]) == 2 * 6 * len(RANKS) * len(SIZES)
    for panel in page.data["panels"].values():
        assert panel["specification"]["data"] == {"name": "rows"}
        assert "datasets" not in panel["specification"]


def test_each_collective_has_each_figure(page: Page) -> None:
    assert {
        f"{figure}-{collective}"
        for figure in (
            *("latency-against-size", "latency-against-ranks", "algorithm-map", "speedup", "spread"),
            *("fitted", "residuals"),
        )
        for collective in ALGORITHMS
    } <= set(page.data["panels"])


def test_the_verdict_names_share_and_worst_loss(page: Page) -> None:
    assert re.search(
        r"default is fine at \d+ of 72 points; at \d+ another algorithm is faster, up to 1\.9\d times; \d+ are",
        page.text,
    )
    assert "the largest of 72 points, so probably somewhat overestimated" in page.text
    assert re.search(r"bcast at 4 MiB on \d ranks: scatter_allgather, 1\.9\d times as fast", page.text)
    assert "Left out (1) bcast openmpi/chain at 1 rank: it needs two" in page.text


def test_a_faster_algorithm_comes_with_its_setting(html: str, tmp_path: Path) -> None:
    assert "How to switch an algorithm on is not recorded" in html
    setting = "mpirun --mca coll_tuned_bcast_algorithm 8"
    header = synthetic_header() | {"settings": {"bcast": {"scatter_allgather": setting}}}
    page = Page(render(load(write_campaign(tmp_path / "c", header, synthetic_results(), synthetic_launches()))))
    assert f"scatter_allgather {setting}" in page.text
    assert f"in all calls of bcast: {setting}" in page.text
    assert "is not recorded" not in page.text


def test_the_shown_rank_count_is_the_largest_with_a_core_for_each(page: Page) -> None:
    chosen = [attributes["value"] for tag, attributes in page.elements if tag == "option" and "selected" in attributes]
    assert "4" in chosen
    assert "8" not in chosen


def test_tables_say_statuses_by_marks_with_a_key(page: Page, html: str) -> None:
    assert "n: not converged, w: wide, s: skewed, o: oversubscribed, f: failed" in page.text


def test_each_job_is_named_with_its_nodes_and_launches(campaign: Campaign) -> None:
    def launch(number: int, job: dict[str, str] | None, *hosts: str) -> dict[str, Any]:
        return {"launch": number, "job": job, "ranks": [{"rank": i, "host": host} for i, host in enumerate(hosts)]}

    first, second = ({"system": "Slurm", "name": "holt", "id": number} for number in ("7", "8"))
    launches = [
        launch(1, first, "n1", "n2"),
        launch(2, first, "n1", "n2"),
        launch(3, second, "n3"),
        launch(4, None, "n9"),
    ]
    header = campaign.header
    found = dict(provenance(header, launches))
    assert found["Jobs and nodes"] == ["holt, 7 of Slurm: n[1-2]; launches 1-2", "holt, 8 of Slurm: n3; launches 3"]
    assert "Jobs and nodes" not in dict(provenance(header, launches[3:]))


def test_failed_cells_are_listed_with_their_cause(page: Page) -> None:
    assert "Broadcast, linear, 2 ranks, 4 MiB rank 1: <lost> its peer" in page.text


def test_the_algorithm_most_like_the_default_is_bold(html: str) -> None:
    likeness = html[html.index('id="likeness-title"') : html.index('id="knees-title"')]
    assert len(re.findall(r'<th scope="row">binomial</th>(<td class="best">[\d.]+</td>){3}', likeness)) == 2
    assert likeness.count('class="best"') == 2 * len(RANKS)


def test_a_hostile_title_stays_text(tmp_path: Path) -> None:
    header = synthetic_header(HOSTILE_TITLE)
    header["study"]["question"] = header["machine"]["cpu"] = header["commands"][0] = HOSTILE_TITLE
    header["left_out"] = [HOSTILE_TITLE]
    results = one(launches=6, median_us=1.0, osu_avg_us=1.0, error=None)
    hostile = [
        LaunchResult(Cell(HOSTILE_TITLE, r.cell.algorithm, 2, HOSTILE_TITLE, 8, "warm"), r.launch, HOSTILE_TITLE, 1.0)
        for r in results
    ]
    folder = write_campaign(tmp_path / "campaign", header, [*results, *hostile], synthetic_launches())
    page = Page(render(load(folder)))
    assert len(page.scripts) == 3
    assert HOSTILE_TITLE in page.data["tables"]["cells"]["collective"]["values"]
    assert page.headings[0] == ("h1", HOSTILE_TITLE)
    assert not [tag for tag, _ in page.elements if tag == "b"]


def test_one_cell_alone_makes_a_report_without_comparisons(tmp_path: Path) -> None:
    page = Page(render(campaign_of(tmp_path / "campaign", one(median_us=1.0, ci_low_us=0.9, ci_high_us=1.1))))
    assert "None; there is nothing that the default could be compared with" in page.text
    found = {text for level, text in page.headings if level == "h2"}
    assert {"Latency against size", "Tables", "Where curves leave their flat part"} <= found
    comparisons = {"Latency against ranks", "Best algorithm by ranks and size", "Speed-up against the default"}
    assert not found & (comparisons | {"Which algorithm behaves most like the default", "Spread between launches"})


def test_a_campaign_in_which_everything_failed_says_so(tmp_path: Path) -> None:
    page = Page(render(campaign_of(tmp_path / "campaign", one(error="rank 0 died"))))
    assert "Broadcast, default, 2 ranks, 8 B rank 0 died" in page.text


def test_imported_averages_are_called_so(tmp_path: Path) -> None:
    imported = campaign_of(
        tmp_path / "campaign", one(osu_avg_us=1.5), study={"title": "Old logs"}, mpi={"kind": "imported"}, machine={}
    )
    page = Page(render(imported))
    assert "OSU average latency (µs) by size and algorithm" in page.text
    assert "Bold:" not in page.text
    assert "1.50" in page.text
    assert "imported by Timpani" in page.text
    assert "95 % interval" not in page.text


def test_two_machines_are_drawn_apart(tmp_path: Path) -> None:
    cell = Cell("bcast", Algorithm("openmpi", "default"), 2, "core", 8, "warm")
    both = [LaunchResult(cell, launch, machine, 1.0) for launch in range(1, 6) for machine in ("desk", "lab")]
    page = Page(render(campaign_of(tmp_path / "campaign", both)))
    options = [attributes["value"] for tag, attributes in page.elements if tag == "option"]
    assert [option for option in options if option.endswith("machine lab")]


def checked(values: dict[str, Any]) -> Header:
    return Header.check({"id": "made-up", **values}, "test")


def test_provenance_lists_what_is_set_outside_timpani() -> None:
    setting = {"name": "coll_tuned_use_dynamic_rules", "value": "true", "source": "~/.openmpi/mca-params.conf line 3"}
    header = Header.check({"id": "x", "outside": [setting | {"chooses": True}]}, "campaign.json")
    assert dict(provenance(header, []))["Settings outside Timpani"] == [
        "default is not the library's default: "
        "~/.openmpi/mca-params.conf line 3 sets coll_tuned_use_dynamic_rules to 'true'"
    ]


def test_provenance_has_each_binding_and_command_once() -> None:
    terms = dict(provenance(checked(synthetic_header()), synthetic_launches()))
    assert terms["Binding"] == ["rank 0 on desk core 0, rank 1 on desk core 1"]
    assert terms["Commands of launches"] == ["mpirun -n 2 measure launches/*/plan.txt"]
    assert terms["Clock error"] == ["41 ns to 46 ns over launches"]
    assert terms["Timer cost"] == ["21 ns"]
    assert terms["Seed"] == ["1"]
    assert provenance(checked({}), []) == []


def test_provenance_names_a_clusters_nodes() -> None:
    header = synthetic_header()
    header["machine"] = {"name": "cluster", "hosts": [{"name": name, "slots": 4} for name in ("n1", "n2", "n5")]}
    assert dict(provenance(checked(header), []))["Nodes"] == ["n[1-2,5]"]
    assert " on 3 nodes of cluster with " in methods_paragraph(checked(header), [])


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
    header["study"] |= {"datatype": "uint8", "overrides": {name: {"datatype": "float"} for name in ("bcast", "gather")}}
    header["study"]["collectives"] = {"bcast": [], "gather": [], "scatter": []}
    assert "(uint8; float for broadcast and gather)" in methods_paragraph(checked(header), [])
    raced = synthetic_header()
    raced["study"] |= {"regret": 0.02}
    text = methods_paragraph(checked(raced), synthetic_launches())
    assert "a race that accepts a regret of 2 %" in text
    assert "that covers at least 95 % from six launches on" in text
    assert "The data decided how many launches measured an algorithm" in text
    assert "alpha spending" in text
    assert "cannot cover a state of an algorithm that none of its launches showed" in text
    assert "cross-validation" in text
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


def test_the_methods_paragraph_says_under_what_conditions_it_was_measured(campaign: Campaign) -> None:
    header = synthetic_header()
    header["machine"] |= {"virtualized": True}
    busy = {"host": "desk", "cores": 4, "seconds": 3.0, "busy_s": 9.0, "own_s": 3.0, "steal_s": 0.0}
    launches = [launch | {"machines": [busy]} for launch in synthetic_launches()]
    virtual = replace(campaign, header=checked(header), launches=launches)
    text = render(virtual).split("Methods, to paste")[1]
    assert "on Example CPU (a virtual machine) with " in text
    assert "Measured under load: on desk other processes kept 2.0 of 4 cores busy" in text
    assert re.search(r"\. \d+ of 432 cells had more ranks than cores", text)


@pytest.mark.parametrize(
    ("number", "text"), [(0.50321, "0.503"), (12.345, "12.3"), (12345.6, "12346"), (0.0, "0"), (1.0, "1.00")]
)
def test_numbers_have_three_significant_digits_and_no_exponent(number: float, text: str) -> None:
    assert significant(number) == text


def test_a_report_replaces_a_file_only_by_force(tmp_path: Path) -> None:
    campaign = campaign_of(tmp_path / "campaign", one(median_us=1.0))
    output = tmp_path / "report.html"
    output.write_text("<p>years of work")
    refused = typed("report", campaign.folder, "-o", output).stderr
    assert "exists already; choose another name, or overwrite it with --force" in refused
    assert output.read_text() == "<p>years of work"
    assert typed("report", campaign.folder, "-o", output, "--force").returncode == 0
    assert "Broadcast" in output.read_text()
    assert "is not a file" in typed("report", campaign.folder, "-o", tmp_path, "--force").stderr
    missing = tmp_path / "missing" / "report.html"
    assert "can't be written" in typed("report", campaign.folder, "-o", missing).stderr


def small(results: list[LaunchResult]) -> Iterator[LaunchResult]:
    return (r for r in results if r.cell.collective == "scatter" and r.cell.ranks < 8 and r.cell.message_bytes <= 4)


def test_linear_axes_are_chosen_in_the_page_and_files_say_so(page: Page, tmp_path: Path) -> None:
    def switches(shown: Page) -> list[bool]:
        found = shown.elements
        return ["checked" in attributes for tag, attributes in found if tag == "input" and "data-linear" in attributes]

    names = ("default", "bruck")
    few = [r for r in small(synthetic_results()) if r.cell.algorithm.name in names and r.cell.ranks == 2]
    campaign = campaign_of(tmp_path / "campaign", few)
    assert switches(page)
    assert not any(switches(page))
    linear = switches(Page(render(campaign, linear=True)))
    assert linear
    assert all(linear)
    files = write_all(campaign, tmp_path / "figures", linear=True)
    stems = {f"{path.parent.name}/{path.stem}" for path in files}
    assert {"latency-against-size/scatter-linear", "speedup/scatter"} <= stems
    assert "latency-against-size/scatter" not in stems


def write_all(
    campaign: Campaign, folder: Path, linear: bool = False, style: FigureStyle = AS_IN_THE_REPORT
) -> list[Path]:
    """Every figure that the report has."""
    report = Report(campaign)
    found = find_figures(report)
    return write_figures([*found.asked, *found.others], report, folder, linear=linear, style=style)


def test_figures_may_have_no_title(campaign: Campaign, tmp_path: Path) -> None:
    report = Report(campaign)
    (file,) = (file for file in find_figures(report).asked if str(file.path) == "latency-against-size/scatter-4-ranks")

    def drawn(style: FigureStyle) -> str:
        write_figures([file], report, tmp_path, force=True, style=style)
        return (tmp_path / f"{file.path}.svg").read_text()

    assert "Scatter, 4 ranks" in drawn(FigureStyle())
    assert "Scatter, 4 ranks" not in drawn(FigureStyle(titled=False))


def test_figures_are_written_in_three_formats(tmp_path: Path) -> None:
    results = [result for result in small(synthetic_results()) if result.cell.algorithm.name in ("default", "bruck")]
    campaign = campaign_of(tmp_path / "campaign", results)
    folder = tmp_path / "figures"
    written = write_all(campaign, folder)
    assert sorted(written) == sorted(path for path in folder.rglob("*") if path.is_file())
    assert {str(path.relative_to(folder).with_suffix("")) for path in written} >= {
        "latency-against-size/scatter-2-ranks",
        "latency-against-size/scatter-4-ranks",
        "latency-against-ranks/scatter-1-B",
        "latency-against-ranks/scatter-4-B",
        "algorithm-map/scatter",
        "speedup/scatter-2-ranks",
        "speedup/scatter-4-ranks",
        "spread/scatter-2-ranks",
        "spread/scatter-4-ranks",
        "fitted/scatter-2-ranks",
        "fitted/scatter-4-ranks",
        "residuals/scatter-latency-ranks-size-1",
        "residuals/scatter-log2-latency-ranks-log2-size-1",
        "latency-by-ranks/scatter-default",
        "latency-by-ranks/scatter-bruck",
    }
    starts = {".svg": b"<svg", ".png": b"\x89PNG", ".pdf": b"%PDF", ".html": b"<!doctype html>"}
    assert all(path.read_bytes().startswith(starts[path.suffix]) for path in written)
    assert "Scatter, 2 ranks" in (folder / "latency-against-size/scatter-2-ranks.svg").read_text()


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


def test_a_study_that_asks_for_none_gets_the_first_of_each_family(campaign: Campaign) -> None:
    found = find_figures(Report(campaign))
    families = [(file.panel.figure.name, file.panel.collective) for file in found.asked]
    assert len(families) == len(set(families))
    assert {("latency-against-size", "bcast"), ("speedup", "scatter")} <= set(families)


def test_a_figure_that_does_not_exist_is_named(campaign: Campaign) -> None:
    with pytest.raises(UserError, match="latency-against-size"):
        find_figures(asking(campaign, latency_agianst_size=FigureChoice()))


def test_the_index_shows_each_figure_by_family(tmp_path: Path) -> None:
    results = [result for result in small(synthetic_results()) if result.cell.algorithm.name in ("default", "bruck")]
    campaign = campaign_of(tmp_path / "campaign", results)
    folder = tmp_path / "figures"
    written = write_all(campaign, folder)
    page = (folder / INDEX).read_text()
    linked = set(re.findall(r'(?:href|src)="([^"]+)"', page))
    assert linked == {str(path.relative_to(folder)) for path in written} - {INDEX}
    assert page.count("<h2>") == len({path.parent for path in written}) - 1


def test_every_specification_of_the_page_compiles(page: Page) -> None:
    for panel in page.data["panels"].values():
        assert vl_convert.vegalite_to_vega(panel["specification"])["marks"]
        if "linear" in panel:
            assert vl_convert.vegalite_to_vega(panel["linear"])["marks"]


def test_no_encoding_is_looked_up_in_altairs_schema(campaign: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    """As plain values and names are that are no channels yet, each in milliseconds: half of the time of a report."""

    def looked_up(*_: object, **__: object) -> None:
        raise AssertionError("an encoding that is no channel")

    monkeypatch.setattr(alt.SchemaBase, "from_dict", looked_up)
    render(campaign)


def lacking(page: Page) -> dict[str, set[str]]:
    """What each figure of a page draws, or is counted by, and the page doesn't have."""
    found: dict[str, set[str]] = {}
    shown = [
        (name, panel, specification)
        for name, panel in page.data["panels"].items()
        for specification in (panel["specification"], panel.get("linear", {}))
    ]
    for name, panel, specification in shown:
        # Where the ranks' places are unknown, the marks of boundaries are drawn of no rows.
        axes = {"value", "label"}
        reckoned = set(re.findall(r"datum\.(\w+)", json.dumps(specification))) - axes
        drawn = (texts_under(specification, "field") | reckoned) - texts_under(specification, "as")
        drawn -= {"", NODE_RANKS, SWITCH_RANKS, SIZE_SERIES}
        counted = {panel["measure"]} if "facet" in specification else set()
        found[name] = found.get(name, set()) | (drawn | counted) - {*page.data["tables"][panel["table"]]}
    return {name: columns for name, columns in found.items() if columns}


def test_the_page_has_all_that_its_figures_draw(page: Page, tmp_path: Path) -> None:
    placed = [
        replace(result, cell=replace(result.cell, placement=placement))
        for placement in ("core", "node")
        for result in small(synthetic_results())
    ]
    several = Page(render(campaign_of(tmp_path / "campaign", placed)))
    assert {"placements-scatter", "placements-against-size-scatter", "placements-against-ranks-scatter"} <= {
        *several.data["panels"]
    }
    assert lacking(page) == lacking(several) == {}
    chosen = {values["data-column"] for tag, values in several.elements if tag == "select"}
    assert chosen <= {*several.data["tables"]["cells"], "formula"}


def texts_under(part: object, key: str) -> set[str]:
    """All texts that stand under `key` anywhere in a specification."""
    if isinstance(part, dict):
        below = {text for value in part.values() for text in texts_under(value, key)}
        return below | ({part[key]} if isinstance(part.get(key), str) else set())
    return {text for value in part for text in texts_under(value, key)} if isinstance(part, list) else set()


def test_methods_say_how_messages_were_timed_and_fixed_numbers_of_calls() -> None:
    study = {"collectives": {"latency": ["default"]}, "launches": 6, "method": "timpani"}
    batched = methods_paragraph(checked({"study": study}), [])
    assert "several in a row" in batched
    assert "Latency is half of a round trip" in batched
    assert "Round-Time" not in batched
    fixed = methods_paragraph(checked({"study": {**study, "warmup": 10, "repetitions": 50}}), [])
    assert "each is timed alone" in fixed
    assert "50 calls after 10 warm-up calls were timed" in fixed
    assert "±" not in fixed
    both = methods_paragraph(
        checked({"study": {**study, "collectives": {"latency": ["default"], "bcast": ["all"]}}}), []
    )
    assert "Round-Time" in both
    assert "Latency is half" in both


def test_a_published_table_is_shown_with_what_is_doubtful_in_it(tmp_path: Path) -> None:
    import_published("behrooz_bcast_scatter", tmp_path / "table", "timpani import")
    html = render(load(tmp_path / "table"))
    assert "<summary>Doubtful in what was imported (" in html
    assert "<li>scatter and bcast times of default are almost identical" in html
    assert "65.7 GB/s out of one root" in html


def test_impossible_times_of_an_imported_log_are_doubted_in_its_report(tmp_path: Path) -> None:
    log = tmp_path / "osu.log"
    rows = "".join(f"{size} {time}\n" for size, time in ((1, "0.0000001"), (2, "0.94"), (4, "0.95"), (8, "0.97")))
    log.write_text("# OSU MPI Broadcast Latency Test v7.4\n# Size       Avg Latency(us)\n" + rows)
    logs = [BenchmarkLog.parse(str(log), "default")]
    import_logs(logs, tmp_path / "old", ranks=2, machine="old", datatype=None, command="timpani import")
    html = render(load(tmp_path / "old"))
    assert "<li>bcast default on 2 ranks, 1 B: 1e-07 µs is under a nanosecond" in html
