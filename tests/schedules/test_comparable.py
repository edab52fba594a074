"""Campaigns that can't be combined to estimate costs."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.campaign_files import results_frame
from timpani.campaign.folder.header import Header
from timpani.campaign.folder.launch_result import LaunchResult
from timpani.campaign.folder.load import Campaign
from timpani.errors import UserError
from timpani.schedules.predict.observed import check_comparable
from timpani.study.cell import OWN, Algorithm, Cell


def campaign(folder: str, mode: str = "warm", **header_fields: Any) -> Campaign:
    header = Header.check(
        {"id": folder, "machine": {"name": "m"}, "mpi": {"kind": "openmpi", "version": "4.1.4"}, **header_fields},
        "test",
    )
    cell = Cell("bcast", Algorithm(OWN, "linear"), 2, "core", 8, mode)
    return Campaign(Path(folder), header, results_frame([LaunchResult(cell, 1, "m", median_us=1.0)]), [], [])


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (campaign("b", machine={"name": "n"}), "costs of 2 machines: m, n"),
        (campaign("b", mpi={"kind": "mpich", "version": "4.0.2"}), "2 MPI libraries: MPICH 4.0.2, Open MPI 4.1.4"),
        (campaign("b", mode="flush"), "2 cache modes: flush, warm"),
        (campaign("b", study={"method": "osu"}), "2 methods: osu, timpani"),
        (campaign("b", study={"include_setup": True}), "2 kinds of calls: setup in each call"),
    ],
)
def test_campaigns_of_different_conditions_are_refused(other: Campaign, message: str) -> None:
    with pytest.raises(UserError, match=message):
        check_comparable([campaign("a"), other])


def test_a_copy_of_a_campaign_is_refused() -> None:
    check_comparable([campaign("a"), campaign("b")])
    with pytest.raises(UserError, match="a and b are one campaign"):
        check_comparable([campaign("a", id="17"), campaign("b", id="17")])
    with pytest.raises(UserError, match="are one campaign"):
        check_comparable([campaign("a"), replace(campaign("a"))])
