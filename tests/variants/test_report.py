"""The report of a campaign with variants: the gain of each, the map of the best, what each variant changed."""

from dataclasses import replace
from typing import Any

import pytest

from tests.campaign_files import MPI, cell, results_of
from tests.report.conftest import synthetic_header, write_campaign
from timpani.campaign.folder.header_parts import RecordedSetting
from timpani.campaign.folder.launch_result import LaunchResult
from timpani.campaign.folder.load import Campaign, load
from timpani.report.document.blocks import Sentence
from timpani.report.page.contents import Report
from timpani.report.verdict.verdict_text import verdict_document, verdict_object
from timpani.variants.setting import variant_tables

CHANGED = [{"name": "btl_vader_eager_limit", "default": "4096", "value": "65536"}]
FASTER, SLOWER = 2.0, 0.5  # the planted gains of `eager` and of `no-vader`


def variants_header() -> dict[str, Any]:
    header = synthetic_header("Settings")
    header["study"] |= {"launches": 10, "ranks": [2], "sizes": [8, 64], "collectives": {"bcast": ["default", "ring"]}}
    header["variants"] = {
        "no-vader": {"settings": "--mca btl '^vader'", "mpi": MPI, "changed": []},
        "default": {"settings": "", "mpi": MPI},
        "eager": {"settings": "btl_vader_eager_limit=<65536>", "mpi": MPI, "changed": CHANGED},
        "newer": {"settings": "--mpi /opt/new", "mpi": MPI | {"version": "5.0.11"}},
    }
    return header


def results() -> list[LaunchResult]:
    gains = {"default": 1.0, "eager": FASTER, "no-vader": SLOWER, "newer": 1.0}
    times = {
        cell(f"{name}@{variant}", size): [10 * cost / gain * (1 + launch / 1000) for launch in range(1, 11)]
        for variant, gain in gains.items()
        for name, cost in (("default", 1.0), ("ring", 1.5))
        for size in (8, 64)
    }
    return results_of(times, machine="desk")


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Campaign:
    folder = tmp_path_factory.mktemp("variants") / "campaign"
    return load(write_campaign(folder, variants_header(), results(), []))


@pytest.fixture(scope="module")
def report(campaign: Campaign) -> Report:
    return Report(campaign)


def test_the_verdict_has_a_line_for_each_variant(campaign: Campaign) -> None:
    blocks = verdict_document(campaign).blocks
    slower, faster, same = [each.text for each in blocks if isinstance(each, Sentence) and each.name == "added"]
    assert slower.startswith("Variant no-vader: 2.00 times as long as the default for bcast at 8 B (95 % interval ")
    assert faster.startswith("Variant eager: 2.00 times as fast as the default for bcast at 8 B (95 % interval ")
    assert same == "Variant newer: no significant difference at 2 points."


def test_a_panel_shows_the_gain_of_each_variant_alone(report: Report) -> None:
    (panel,) = report.panels["variant-gain"]
    assert set(panel.frame["label"]) == {"default@eager", "default@no-vader", "default@newer"}
    gains = dict(panel.frame.filter(message_bytes=8).select("label", "ratio").iter_rows())
    assert gains["default@eager"] == pytest.approx(FASTER)
    assert gains["default@no-vader"] == pytest.approx(SLOWER)
    assert panel.undecided == ["default@newer"]
    (others,) = report.panels["speedup"]
    assert set(others.frame["label"]) == {"default", *(f"ring{at}" for at in ("", "@eager", "@no-vader", "@newer"))}


def test_the_map_names_the_best_setting_though_there_is_one_rank_count(report: Report) -> None:
    (panel,) = report.panels["algorithm-map"]
    assert set(panel.frame["best_label"]) == {"default@eager"}


def test_a_table_shows_what_each_variant_changed(campaign: Campaign) -> None:
    (table,) = variant_tables(campaign.header)
    rows = {name.text: [value.text for value in values] for name, *values in table.rows}
    assert list(rows) == ["default", "no-vader", "eager", "newer"]
    assert rows["default"] == ["nothing set", "Open MPI 4.1.4", ""]
    assert rows["eager"][2] == "btl_vader_eager_limit: 4096 → 65536"
    assert rows["no-vader"][2] == "none"
    assert rows["newer"][1:] == ["Open MPI 5.0.11", "not compared"]


def test_a_faster_variant_that_changed_nothing_is_doubted(campaign: Campaign) -> None:
    def warned(
        settings: str, changed: tuple[RecordedSetting, ...] | None, unchecked: tuple[str, ...] = ()
    ) -> list[str]:
        assert campaign.header.variants
        update = {"settings": settings, "changed": changed, "unchecked": unchecked}
        eager = campaign.header.variants["eager"].model_copy(update=update)
        header = campaign.header.model_copy(update={"variants": {**campaign.header.variants, "eager": eager}})
        found = replace(campaign, header=header)
        phrase = "changed no control variable of the library"
        texts = [each for each in verdict_object(found)["warnings"] if phrase in each]
        warnings = [block for block in verdict_document(found, full=True).with_name("warning") if phrase in str(block)]
        assert len(warnings) == len(texts)
        return texts

    own_default = "--mca btl_vader_eager_limit 4096"
    (warning,) = warned(own_default, ())
    assert warning.startswith("variant eager changed no control variable of the library")
    assert "false alarm" in warning
    assert not warned(own_default, None), "what was not compared is unknown"
    assert not warned(f"{own_default} UCX_TLS=sm", ()), "another library may read it"
    assert not warned(own_default, (), ("rmaps_base_mapping_policy",)), "what the library does not show may act"
    assert not warned("--bind-to none", ()), "the launcher may act without a control variable"
    assert not warned(own_default, tuple(map(RecordedSetting.model_validate, CHANGED)))
