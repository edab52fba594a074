"""Variants are compared by pairs within blocks, and by states where the machine changed within them."""

from collections.abc import Sequence
from itertools import repeat
from typing import Any

import numpy as np
import pytest

from tests.campaign_files import cell, made_up, raced, results_of
from timpani.judge.decide import compare_with_default, decide
from timpani.judge.points import samples_in_blocks


def blocks(times: list[float], states: Sequence[str] = (), first: int = 1) -> list[dict[str, Any]]:
    return [
        {"launch": first + index, "time": time, "state": state}
        for index, (time, state) in enumerate(zip(times, [*states] or repeat(None, len(times)), strict=True))
    ]


def test_a_factor_common_to_a_block_cancels() -> None:
    disturbed = [1.0, 9.0, 2.0, 30.0, 4.0, 1.5]
    found = samples_in_blocks(blocks(disturbed), blocks([time / 2 for time in disturbed]))
    assert list(found.paired) == pytest.approx([2.0] * 6)


def test_a_block_in_which_one_failed_is_left_out() -> None:
    assert list(samples_in_blocks(blocks([1.0, 2.0, 3.0]), blocks([4.0, 6.0], first=2)).paired) == [0.5, 0.5]


def test_a_single_block_in_two_states_is_left_out() -> None:
    ours = ["near"] * 4 + ["far"] * 4
    theirs = ["near"] * 4 + ["far"] * 3 + ["near"]
    found = samples_in_blocks(blocks([1.0] * 8, ours), blocks([1.0] * 7 + [50.0], theirs))
    assert list(found.paired) == [1.0] * 7


def test_blocks_in_two_states_are_paired_without_the_effect_of_the_state() -> None:
    ours = ["near", "far"] * 4
    theirs = ["far", "near"] * 4
    found = samples_in_blocks(blocks([1.0, 4.0] * 4, ours), blocks([8.0, 2.0] * 4, theirs))
    assert list(found.paired) == pytest.approx([0.5] * 8)
    assert list(found.slopes) == pytest.approx([1.0] * 8)


def test_launches_are_compared_within_each_state_if_most_blocks_change_in_one_direction() -> None:
    ours = ["near"] * 6 + ["far"] * 2
    theirs = ["far"] * 6 + ["far"] * 2
    found = samples_in_blocks(blocks([1.0] * 6 + [4.0] * 2, ours), blocks([8.0] * 8, theirs))
    assert not found.paired
    assert found.strata == (([4.0] * 2, [8.0] * 8),)


def test_without_a_common_state_all_blocks_are_paired() -> None:
    found = samples_in_blocks(blocks([1.0] * 6, ["near"] * 6), blocks([2.0] * 6, ["far"] * 6))
    assert list(found.paired) == [0.5] * 6


def test_the_best_of_variants_and_algorithms_is_found_under_noise_that_blocks_share() -> None:
    noise = np.exp(np.random.default_rng(1).normal(0, 1, 10))
    jitter = np.random.default_rng(2).uniform(0.99, 1.01, (2, 10))
    times = {
        cell(): noise.tolist(),
        cell("default@fast"): (0.9 * noise * jitter[0]).tolist(),
        cell("ring@fast"): (0.8 * noise * jitter[1]).tolist(),
    }
    measured = raced(results_of(times))
    compared = {row["label"]: row for row in compare_with_default(measured).to_dicts()}
    assert compared.keys() == {"default@fast", "ring@fast"}
    assert compared["default@fast"]["ratio"] == pytest.approx(1 / 0.9, rel=0.01)
    assert compared["default@fast"]["significant"]
    assert compared["default@fast"]["launches"] == 10
    [point] = decide(measured).to_dicts()
    assert (point["best_label"], point["verdict"]) == ("ring@fast", "better")
    assert point["gain_low"] < 1.25 < point["gain_high"]


def test_rules_and_predictions_take_the_default_variant_alone() -> None:
    found = made_up(results_of({cell(): [1.0], cell("default@fast"): [2.0]}))
    assert found.of_variant().results["variant"].to_list() == ["default"]
    plain = made_up(results_of({cell(): [1.0]}))
    assert plain.of_variant() is plain
