"""A campaign next to a study: under its names, by the chosen statistic, with a verdict only on its conditions."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.campaign_files import cell, made_up, results_of, start
from tests.cli.test_show import measured_on
from tests.cli.typed import typed
from timpani.campaign.folder.load import Campaign, load
from timpani.campaign.read.study_names import by_statistic, with_study_names
from timpani.report.document.blocks import Document
from timpani.report.document.formats import FORMATS, render
from timpani.report.document.text import text_of
from timpani.report.verdict.verdict_text import verdict_document
from timpani.studies.comparison import comparison
from timpani.studies.tables import COMPARISON, import_published, published_doubts, published_names, read_published
from timpani.study.cell import Algorithm, Cell

BEHROOZ, ASSIGNMENT, HOLT = (read_published(name, COMPARISON) for name in ("behrooz", "assignment2", "holt"))
NOTE = "basic_linear (bcast): simgrid/flattree stands in for openmpi/basic_linear."
ALL = (2, 4, 8, 16, 32, 64, 128, 256)
TYPE_I, TYPE_II = (f"composed/{name}:setup_each_call=1" for name in ("three_level", "two_level"))
AVERAGE: dict[str, Any] = {"median_us": None}
"""Of an imported average, which decides by its value."""


def here(document: Document, says: str) -> Any:
    """The sentence on a campaign's times of the first conclusion that begins so."""
    return next(each for each in document.with_name("here") if each.values["says"].startswith(says))


def of_default(ranks: Sequence[int], hosts: Sequence[str], kind: str = "openmpi", **values: Any) -> Document:
    times = {
        cell(f"{kind}/default", 2**power, ranks=count): 1.0 if power <= 13 else 9.0
        for count in ranks
        for power in range(21)
    }
    launches = [start(hosts=hosts)] if hosts else []
    results = results_of(times, noise=(1.0,), **{**AVERAGE, **values})
    return comparison(made_up(results, launches, mpi={"kind": kind, "version": "1"}), BEHROOZ)


@pytest.mark.parametrize(
    ("ranks", "hosts", "kind", "values", "said"),
    [
        (ALL, ("a", "b"), "openmpi", {}, "here: holds; in 8 of 8 cases"),
        (
            (2,),
            ("a", "b"),
            "openmpi",
            {},
            "here, at 21 of the study's 168 points (not measured: 4, 8, 16, 32 and 3 more ranks): nothing against it",
        ),
        (ALL, ("a", "a"), "openmpi", {}, "here, on 1 node where it had 2: nothing against it; in 8 of 8 cases"),
        (ALL, (), "openmpi", {}, "here, on an unknown number of nodes where it had 2: nothing against it"),
        (ALL, ("a", "b"), "mpich", {}, "here, with MPICH's default for Open MPI's: nothing against it"),
        (ALL, ("a", "b"), "openmpi", {"simulated": True}, "here, simulated: nothing against it"),
        # A burst of load in one launch is no switch of protocol.
        (ALL, ("a", "b"), "openmpi", {"median_us": 1.0}, "here: undecided"),
    ],
)
def test_only_the_conditions_of_the_study_give_a_verdict_on_it(
    ranks: tuple[int, ...], hosts: tuple[str, ...], kind: str, values: dict[str, Any], said: str
) -> None:
    document = of_default(ranks, hosts, kind, **values)
    first = here(document, "the default's broadcast rises sharply")
    assert first.text.startswith(said)
    words = said.partition(": ")[2].partition(";")[0].removeprefix("4, 8, 16, 32 and 3 more ranks): ")
    assert document["conclusions"].at(first.values["says"], "here").text.startswith(words)


def test_a_conclusion_over_all_sizes_names_none() -> None:
    published = of_default(ALL, ()).with_name("published")
    text = next(each.text for each in published if "256 ranks binomial" in each.values["says"])
    assert "most against it: 5.65" in text
    assert "cases that do not hold" not in text


def test_a_line_names_what_was_not_measured_and_ties_are_no_difference() -> None:
    """Of type II on its host files: 8 ranks of category 2, and 12 of category 3, each as long as the default."""
    times = {
        cell(name, 2 << 20, ranks=ranks, placement=placement): 1.0
        for ranks, placement in ((8, "category:2:1"), (12, "category:3:1"), (8, "category:1:1"))
        for name in ("default", TYPE_II)
    }
    document = comparison(made_up(results_of(times, noise=(1.0,), **AVERAGE)), ASSIGNMENT)
    found = here(document, "broadcasts of type II beat the default at 2048 KB")
    assert found.values["verdict"] == "no difference"
    assert len(found.values["cases"]) == 2  # without category 1, which is of type I
    assert "at 2 of the study's 12 points (not measured: 16 ranks; category:2:2, category:3:2)" in found.text
    other = here(document, "broadcasts of type I beat the default at 2048 KB")
    assert "it takes times of bcast by composed/three_level" in other.text
    assert document["compared"].text.startswith("No times were published")


@pytest.fixture
def simulated(tmp_path: Path) -> Campaign:
    study = {"collectives": {"bcast": ["default", "openmpi/basic_linear"]}}
    return load(measured_on(tmp_path / "c", (2, 4), ("simgrid/default", "simgrid/flattree"), "simgrid", study))


def test_every_format_has_the_studys_names_and_footnotes_for_what_stands_in(simulated: Campaign) -> None:
    document = comparison(with_study_names(simulated), BEHROOZ)
    assert document["stand_in"].text == NOTE
    agreement = document["agreement"]
    assert agreement.at("basic_linear", "cells").content == 4  # all cells have their published partner
    for format in FORMATS:
        assert "basic" in render(document, format)
    values = json.loads(render(document, "json"))
    assert values["compared"]["simulated"] is True
    assert len(values["published"]) == len(values["here"]) == len(values["conclusions"]["rows"])
    for full in (False, True):
        lines = text_of(verdict_document(with_study_names(simulated), full).blocks).splitlines()
        assert (NOTE in lines) == ("basic_linear" in " ".join(line for line in lines if line != NOTE))
        assert not [line for line in lines if "flattree" in line and line != NOTE]


def test_conclusions_are_checked_by_the_statistic_that_was_asked_for() -> None:
    """The default's completions fall from 64 to 128 ranks, its averages rise."""
    results = [
        result
        for ranks in (64, 128)
        for result in results_of({cell("default", size, ranks=ranks): 100 / ranks for size in (1, 2)}, osu_avg_us=ranks)
    ]
    verdicts = {}
    for statistic in ("completion", "osu"):
        document = comparison(by_statistic(made_up(results), statistic), BEHROOZ)
        verdicts[statistic] = here(document, "the default's broadcast rises with the ranks").values["cases"][0]["holds"]
        assert (
            f"here checked with {'OSU averages' if statistic == 'osu' else 'completions'}" in document["concluded"].text
        )
    assert verdicts == {"completion": False, "osu": True}


def messages(pairs: Sequence[int], averages: Sequence[float], sizes: Sequence[int] = (1, 1024)) -> Campaign:
    times = {
        Cell(
            name,
            Algorithm("openmpi", "default", (("first", 0), ("second", second), *more)),
            max(pairs) + 1,
            "core",
            size,
            "warm",
        ): averages
        for second in pairs
        for name, more in (("latency", ()), ("bandwidth", (("window", 64),)))
        for size in sizes
    }
    return made_up(results_of(times))


def test_messages_stand_next_to_the_published_ones_size_by_size() -> None:
    document = comparison(messages([1], [1.02, 1.04, 1.06, 1.08, 1.1, 3.0]), HOLT)  # the mean is far from the median
    bandwidth, latency = document.with_name("messages")
    assert bandwidth.columns == ("size (B)", "here", "published", "here / published")
    assert bandwidth.annotation == "95 % interval"
    assert [value.text for value in bandwidth.rows[1]] == ["1024", "957", "1540", "0.62"]
    here = latency.rows[0][1]
    assert (here.content, here.low, here.high) == (pytest.approx(1.07), 1.02, 3.0)
    assert "not_compared" in document


def test_a_campaign_of_latencies_names_its_pair_and_several_pairs_are_kept_apart() -> None:
    document = comparison(messages([1], [1.0], (128, 256, 512, 1024)), HOLT)
    assert document["agreement"].column("cells")[0].content == 4
    assert [each for each in document.with_name("not_compared") if each.values["only"] == "the campaign"] == []
    several = comparison(messages([1, 2], [1.0]), HOLT)
    assert {value.text for value in several["agreement"].column("placement")} == {
        "core, ranks 0 and 1",
        "core, ranks 0 and 2",
    }
    assert "best" not in several  # a pair is no algorithm to choose


def test_a_table_is_not_compared_with_itself(tmp_path: Path) -> None:
    import_published("malasi", tmp_path / "t", "timpani import")
    document = comparison(load(tmp_path / "t"), read_published("malasi", COMPARISON))
    assert document["compared"].values == {"itself": True}
    assert document["conclusions"].columns == ("conclusion", "published")
    assert "here" not in document
    assert "agreement" not in document


def test_the_published_tables_are_judged() -> None:
    behrooz = {each.kind: each for each in published_doubts(read_published("behrooz", "measurements"))}
    assert "scatter and bcast times of default are almost identical" in behrooz["same_curve"].text
    assert "65.7 GB/s out of one root" in behrooz["over_the_port"].text
    assert behrooz["faster_than_its_choices"].cells == 58
    assert "scatter default on 16 ranks, 1 MiB" in behrooz["prints_its_size"].text
    assert "bcast binary on 128 ranks, 1 MiB is empty" in behrooz["empty"].text
    assert "at 28 of 1174 steps" in behrooz["falls_with_ranks"].text  # none leads over the empty cell
    assert published_doubts(read_published("malasi", "measurements")) == []
    for name in published_names("measurements"):
        published_doubts(read_published(name, "measurements"))


def test_the_command_prints_every_format_of_a_users_conclusions(tmp_path: Path) -> None:
    import_published("malasi", tmp_path / "t", "timpani import")
    own = tmp_path / "mine.toml"
    own.write_text("[[claims]]\nsays = 'a'\ncollective = 'bcast'\ncheck = 'slower'\nalgorithms = ['openmpi/chain']")
    done = typed("compare", tmp_path / "t", "--published", own, "--format", "csv")
    assert (done.returncode, done.stdout.splitlines()) == (
        0,
        ["table,conclusion,here", 'conclusions,a,"holds, 21 of 21"'],
    )
    assert typed("compare", tmp_path / "t", "--published", own, "--format", "junit").returncode == 2
    refused = typed("compare", tmp_path / "t", "--published", "malassi")
    assert "unknown published table 'malassi'; choose among behrooz_bcast_scatter, malasi" in refused.stderr
