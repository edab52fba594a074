"""A swept parameter that changed no message, on proofs as campaigns hold them."""

from typing import Any

from timpani.campaign.read.campaign_warnings import without_effect

TREE, FLAT = [[0, 1], [0, 0]], [[0, 2], [0, 0]]


def proof(parameters: str, messages: list[list[int]], **fields: Any) -> dict[str, Any]:
    cell = {
        "collective": "bcast",
        "variant": "default",
        "provider": "openmpi",
        "algorithm": "chain",
        "parameters": parameters,
    }
    where = {"ranks": 2, "message_bytes": 8, "placement": "core", "mode": "warm", "arrival": "together"}
    return {**cell, **where, "messages": messages, "bytes": messages, **fields}


def test_a_parameter_whose_values_all_send_the_same_is_named() -> None:
    proofs = [proof(f"fanout={value}", TREE, message_bytes=size) for value in (2, 10) for size in (8, 1024)]
    assert without_effect(proofs) == [
        "bcast chain sent the same messages with fanout 2, 10 (up to 2 ranks, 2 sizes from 8 B to 1 KiB): "
        "nothing counted here shows that fanout was applied"
    ]


def test_a_parameter_that_matters_at_one_point_is_applied() -> None:
    equal = [proof(f"fanout={value}", TREE) for value in (2, 10)]
    assert without_effect([*equal, proof("fanout=2", TREE, ranks=8), proof("fanout=10", FLAT, ranks=8)]) == []


def test_one_value_is_no_sweep() -> None:
    assert without_effect([proof("fanout=2", TREE), proof("", TREE), proof("fanout=3", TREE, ranks=3)]) == []


def test_each_of_two_parameters_is_checked_with_the_other_fixed() -> None:
    grid = [
        proof(f"fanout={fanout},segment_bytes={size}", FLAT if size > 8 else TREE)
        for fanout in (2, 3)
        for size in (8, 16)
    ]
    assert [text.split()[7] for text in without_effect(grid)] == ["fanout"]
