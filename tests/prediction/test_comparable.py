"""Campaigns that can't tell costs together."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from timpani.campaign.folder.header import Header
from timpani.campaign.folder.launch_result import LaunchResult
from timpani.campaign.folder.load import Campaign, results_frame
from timpani.errors import UserError
from timpani.prediction.comparable import check_comparable
from timpani.study.cell import OWN, Algorithm, Cell


def campaign(folder: str, mode: str = "warm", **told: Any) -> Campaign:
    header = Header.check({"machine": {"name": "m"}, "mpi": {"kind": "openmpi", "version": "4.1.4"}, **told}, "test")
    cell = Cell("bcast", Algorithm(OWN, "linear"), 2, "core", 8, mode)
    return Campaign(Path(folder), header, results_frame([LaunchResult(cell, 1, "m", median_us=1.0)]), [], [])


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (campaign("b", machine={"name": "n"}), "costs of 2 machines: m, n"),
        (campaign("b", mpi={"kind": "mpich", "version": "4.0.2"}), "2 MPI libraries: MPICH 4.0.2, Open MPI 4.1.4"),
        (campaign("b", mode="flush"), "2 cache modes: flush, warm"),
        (campaign("b", study={"method": "osu"}), "2 methods: osu, timpani"),
        (campaign("b", study={"include_setup": True}), "2 kinds of calls: set-up in each call"),
    ],
)
def test_what_was_measured_otherwise_is_refused(other: Campaign, said: str) -> None:
    with pytest.raises(UserError, match=said):
        check_comparable([campaign("a"), other])


def test_one_campaign_counts_once_wherever_it_was_copied() -> None:
    check_comparable([campaign("a"), campaign("b")])
    with pytest.raises(UserError, match="a and b are one campaign"):
        check_comparable([campaign("a", id="17"), campaign("b", id="17")])
    with pytest.raises(UserError, match="are one campaign"):
        check_comparable([campaign("a"), replace(campaign("a"))])
