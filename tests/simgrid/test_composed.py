"""Collectives composed of the library's on a simulated cluster of groups, and what their communicators cost."""

import polars as pl
import pytest

from tests.cli.typed import typed
from tests.installed import needs_simgrid
from timpani.campaign.folder.load import load

pytestmark = needs_simgrid

STUDY = """
ranks = [12]
sizes = [262144]
placement = ["category:1:1", "category:3:2"]
[collectives]
bcast = ["composed/all", "composed/three_level:setup_each_call=1", "timpani/three_level", "timpani/two_level"]
reduce = ["default", "composed/all"]
setup = ["default", "composed/all"]
"""


@pytest.fixture(scope="module")
def times(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str, str], float]:
    """Microseconds by operation, placement and algorithm; every cell gave the right data."""
    folder = tmp_path_factory.mktemp("composed") / "c"
    study = folder.with_suffix(".toml")
    study.write_text(STUDY)
    done = typed("run", study, "--on", "simgrid:four-groups-of-4", "-o", folder)
    assert done.returncode == 0, done.stderr
    results = load(folder).results
    assert results["error"].null_count() == results.height
    label = pl.concat_str(
        "algorithm", pl.when(pl.col("parameters") != "").then(pl.lit(" each call")).otherwise(pl.lit(""))
    )
    name = pl.format("{}/{}", "provider", label)
    return {tuple(row[:3]): row[3] for row in results.select("collective", "placement", name, "median_us").iter_rows()}


def test_a_level_of_groups_makes_a_difference_on_12_nodes(times: dict[tuple[str, str, str], float]) -> None:
    """3 nodes in each of 4 groups: composed or Timpani's, types I and II of the study send otherwise."""
    for provider in ("composed", "timpani"):
        three, two = (times["bcast", "category:1:1", f"{provider}/{name}"] for name in ("three_level", "two_level"))
        assert abs(three / two - 1) > 0.03


def test_communicators_made_in_each_call_cost_about_what_they_cost_alone(
    times: dict[tuple[str, str, str], float],
) -> None:
    for placement in ("category:1:1", "category:3:2"):
        once, each = (times["bcast", placement, f"composed/three_level{mode}"] for mode in ("", " each call"))
        alone = times["setup", placement, "composed/three_level"]
        assert 0.5 * alone < each - once < 2 * alone
