"""Figures of schedules: trees, matrices and timelines."""

import polars as pl
import pytest

from tests.charts.drawing import items, texts
from timpani.charts.message_tree import message_tree, tree_of
from timpani.charts.peer_matrix import peer_matrix
from timpani.charts.timeline import timeline


def messages(*edges: tuple[int, int]) -> pl.DataFrame:
    """A message a tick along each edge in turn."""
    return pl.DataFrame(
        [
            {"kind": "send", "rank": a, "peer": b, "round": k, "bytes": 8, "start": float(k), "end": k + 1.0}
            for k, (a, b) in enumerate(edges)
        ]
    )


def test_a_tree_is_seen_from_its_root_whichever_way_messages_flow() -> None:
    outward = tree_of(messages((0, 1), (0, 2), (1, 3)))
    assert outward is not None
    assert (outward.root, outward.parents, outward.inward) == (0, {1: 0, 2: 0, 3: 1}, False)
    inward = tree_of(messages((3, 1), (1, 0), (2, 0)))
    assert inward is not None
    assert (inward.root, inward.parents, inward.inward) == (0, {1: 0, 2: 0, 3: 1}, True)


@pytest.mark.parametrize(
    "edges",
    [
        ((0, 1), (1, 2), (2, 0)),  # a ring
        ((0, 1), (2, 3)),  # two trees
        ((0, 1), (0, 2), (1, 3), (2, 3)),  # a rank that hears twice
        ((0, 1), (2, 3), (3, 2)),  # a tree beside a cycle
    ],
)
def test_what_is_no_tree_is_none(edges: tuple[tuple[int, int], ...]) -> None:
    assert tree_of(messages(*edges)) is None


def test_a_tree_is_drawn_with_every_rank_and_when_messages_flow() -> None:
    sent = messages((0, 1), (0, 2), (1, 3), (1, 3))
    tree = tree_of(sent)
    assert tree is not None
    figure = message_tree(sent, tree)
    drawn = [str(item["text"]) for item in items(figure, "text")]
    assert {"0", "1", "2", "3", "0–1", "1–2", "2–4 (2)"} == set(drawn)
    heights = {str(item["text"]): item["y"] for item in items(figure, "text") if str(item["text"]).isdigit()}
    assert heights["0"] < heights["1"] == heights["2"] < heights["3"]


def test_a_matrix_has_a_square_for_each_pair_that_talks() -> None:
    figure = peer_matrix(messages((0, 1), (0, 1), (1, 2)), 3)
    assert len(items(figure, "rect")) == 2
    assert sorted(str(item["text"]) for item in items(figure, "text")) == ["1", "2"]
    assert {"0", "1", "2"} <= set(texts(figure, "axis-label"))


def test_a_timeline_shows_both_ends_of_each_message_in_their_ranks_lanes() -> None:
    figure = timeline(messages((0, 1), (1, 2)), 3)
    assert sorted(str(item["text"]) for item in items(figure, "text")) == ["←0", "←1", "→1", "→2"]
    bars = items(figure, "rect")
    assert len(bars) == 4
    assert {"0", "1", "2"} <= set(texts(figure, "axis-label"))
