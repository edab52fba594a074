"""Campaigns that can't be combined to estimate costs."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.campaign_files import cell, made_up, results_of
from timpani.campaign.folder.load import Campaign
from timpani.errors import UserError
from timpani.schedules.predict.observed import check_comparable, of_one_mode
from timpani.study.cell import OWN


def campaign(folder: str, mode: str = "warm", **header_fields: Any) -> Campaign:
    results = results_of({cell(f"{OWN}/linear", mode=mode): [1.0]}, machine="m")
    return made_up(results, folder=Path(folder), **header_fields)


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


def test_costs_come_from_the_mode_that_most_results_have() -> None:
    modes = ["warm", "warm, rail 4", "warm, rail 4"]
    rows = [cell(f"{OWN}/{name}", mode=mode) for name, mode in zip(("linear", "ring", "chain"), modes, strict=True)]
    several = made_up(results_of({each: [1.0] for each in [*rows, cell("ring", mode="flush")]}, machine="m"))
    said: list[str] = []
    [chosen] = of_one_mode([several], said.append)
    assert chosen.results["mode"].to_list() == modes[1:]
    assert said == ["costs from 2 of 3 results: those with the mode 'warm, rail 4'"]
    of_library = replace(several, results=several.results.filter(algorithm="ring", mode="flush"))
    check_comparable(of_one_mode([of_library, of_library.of_variant()], said.append)[:1])
    with pytest.raises(UserError, match="2 cache modes"):
        check_comparable(of_one_mode([campaign("a"), campaign("b", mode="flush")], said.append))


def test_a_copy_of_a_campaign_is_refused() -> None:
    check_comparable([campaign("a"), campaign("b")])
    with pytest.raises(UserError, match="a and b are one campaign"):
        check_comparable([campaign("a", id="17"), campaign("b", id="17")])
    with pytest.raises(UserError, match="are one campaign"):
        check_comparable([campaign("a"), replace(campaign("a"))])
