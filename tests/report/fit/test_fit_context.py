"""Which limits of a library may explain a switch in a curve."""

from pathlib import Path

import numpy as np
import pytest

from tests.report.conftest import synthetic_header, write_campaign
from timpani.campaign.folder.launch_result import LaunchResult
from timpani.campaign.folder.load import load
from timpani.campaign.read.message_locality import Spread, with_locality
from timpani.judge.cell_table import estimate_cells
from timpani.judge.raced import raced_results
from timpani.report.fit.fit_context import FitContext
from timpani.report.fit.fit_section import fit_section
from timpani.stats.curve import Curve
from timpani.stats.fit import CurveFit, Hockney
from timpani.stats.sample import Estimate
from timpani.stats.segments import Switch
from timpani.study.cell import Algorithm, Cell

SHARED_MEMORY, NETWORK = "btl_vader_eager_limit=4096", "btl_tcp_eager_limit=4096"


def curve_of(collective: str, provider: str, algorithm: str) -> CurveFit:
    name = {"collective": collective, "provider": provider, "algorithm": algorithm, "parameters": ""}
    where = {"machine": "m", "ranks": 2, "placement": "core"}
    curve = Curve(np.array([1024.0, 8192.0]), np.array([[1.0, 9.0]]))
    return CurveFit({**name, **where}, None, curve, curve, [], [], Hockney(*[Estimate(1.0, 1.0, 1.0)] * 2), "ok")


def hints(fitted: CurveFit, spread: Spread | None, locality: str | None = None) -> list[str]:
    """The hints at a switch between 1 and 8 KiB, of limits of shared memory and of the network at 4 KiB."""
    context = FitContext(
        {"btl_vader_eager_limit": 4096, "btl_tcp_eager_limit": 4096},
        {("m", 2, "core"): spread} if spread else {},
        None,
        {("m", 2, "core", ""): locality} if locality else {},
        (),
        (),
    )
    return context.limits_within(Switch(8192, 1024, 8192, 3.0, 0.001, Estimate(2.0, 1.9, 2.1), jumps=True), fitted)


@pytest.mark.parametrize(
    ("collective", "provider", "algorithm", "hinted"),
    [
        ("latency", "openmpi", "default", True),
        ("bcast", "openmpi", "default", True),
        ("transpose", "timpani", "plain_message", True),
        ("transpose", "timpani", "local_memcpy", False),
        ("transpose", "timpani", "column_by_column", False),
        ("reduce_local", "openmpi", "default", False),
    ],
)
def test_a_limit_of_messages_is_no_hint_where_no_message_has_the_size(
    collective: str, provider: str, algorithm: str, hinted: bool
) -> None:
    found = hints(curve_of(collective, provider, algorithm), Spread(nodes=1, on_one_node=2))
    assert found == ([SHARED_MEMORY] if hinted else [])


@pytest.mark.parametrize(
    ("spread", "hinted"),
    [
        (Spread(nodes=1, on_one_node=2), [SHARED_MEMORY]),
        (Spread(nodes=2, on_one_node=1), [NETWORK]),
        (Spread(nodes=2, on_one_node=2), [SHARED_MEMORY, NETWORK]),
        (None, [SHARED_MEMORY, NETWORK]),
    ],
)
def test_a_hint_names_only_transports_that_ranks_so_spread_can_use(spread: Spread | None, hinted: list[str]) -> None:
    assert hints(curve_of("bcast", "openmpi", "default"), spread) == hinted


@pytest.mark.parametrize(
    ("locality", "hinted"),
    [
        ("same socket", [SHARED_MEMORY]),
        ("same switch", [NETWORK]),
        ("different switch", [NETWORK]),
        ("same node, different nodes", [SHARED_MEMORY, NETWORK]),
    ],
)
def test_a_hint_for_a_latency_follows_the_pair_and_not_all_ranks(locality: str, hinted: list[str]) -> None:
    assert hints(curve_of("latency", "openmpi", "default"), Spread(nodes=3, on_one_node=2), locality) == hinted


def test_a_curve_that_cannot_be_fitted_is_named(tmp_path: Path) -> None:
    cell = Cell("barrier", Algorithm("openmpi", "default"), 2, "core", 0, "warm")
    results = [LaunchResult(cell, 1, "desk", median_us=1.0)]
    campaign = load(write_campaign(tmp_path / "barrier", synthetic_header(), results, []))
    found = fit_section(campaign, with_locality(estimate_cells(raced_results(campaign)), campaign))
    assert found.fits.is_empty()
    assert "only one size" in found.left_out[0]
