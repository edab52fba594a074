"""Warnings of several campaigns, one line for each thing that they warn of."""

from timpani.tune.source_warnings import merged


def load(cores: float) -> str:
    return f"measured under load: on vm other processes kept {cores} of 2 cores busy on average"


def test_different_warnings_stay_apart_and_one_campaigns_own_is_whole() -> None:
    states = "vm was in several states (2 ranks by core): a cache line took 40 ns"
    assert merged({"a": [load(0.5), states], "b": [load(0.6)], "c": []}) == [
        "measured under load, 2 of 3 campaigns (a, b); in a: on vm other processes kept 0.5 of 2 cores busy on average",
        f"a: {states}",
    ]


def test_a_warning_of_several_campaigns_is_printed_once_and_names_them() -> None:
    assert merged({"campaign": [load(0.5)], "between-1": [load(0.7)], "between-2": [load(1.0)]}) == [
        "measured under load, 3 of 3 campaigns (all); in campaign: on vm other processes kept 0.5 of 2 cores busy on "
        "average"
    ]
    assert merged({"campaign": [], "between-1": [load(0.7)], "between-2": [load(1.0)]}) == [
        "measured under load, 2 of 3 campaigns (between-1, between-2); in between-1: on vm other processes kept 0.7 of "
        "2 cores busy on average"
    ]
