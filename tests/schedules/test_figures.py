"""Figures of schedules: trees, matrices and timelines."""

import polars as pl
import pytest

from tests.report.figures.drawing import items, texts
from timpani.schedules.figures import message_tree, peer_matrix, timeline, tree_of


def messages(*edges: tuple[int, int]) -> pl.DataFrame:
    """A message a tick along one edge after another."""
    return pl.DataFrame(
        [
            {"kind": "send", "rank": a, "peer": b, "round": k, "bytes": 8, "start": float(k), "end": k + 1.0}
            for k, (a, b) in enumerate(edges)
        ]
    )


def test_a_tree_is_seen_from_its_root_whichever_way_messages_flow() -> None:
    outward = tree_of(messages((0, 1), (0, 2), (1, 3)))
    assert outward is not None
    assert (outward.root, outward.parents, outward.flow) == (0, {1: 0, 2: 0, 3: 1}, "outward")
    inward = tree_of(messages((3, 1), (1, 0), (2, 0)))
    assert inward is not None
    assert (inward.root, inward.parents, inward.flow) == (0, {1: 0, 2: 0, 3: 1}, "inward")


@pytest.mark.parametrize(
    "edges",
    [
        ((0, 1), (1, 2), (2, 0)),  # a ring
        ((0, 1), (2, 3)),  # two trees
        ((0, 1), (0, 2), (1, 3), (2, 3)),  # a rank that hears twice
        ((0, 1), (2, 3), (3, 2)),  # a tree and a cycle
    ],
)
def test_messages_without_a_tree_give_no_tree(edges: tuple[tuple[int, int], ...]) -> None:
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


def halves(*exchanged: tuple[int, int]) -> pl.DataFrame:
    """A tree with two sides, and in a later round messages between them, all of equal size."""
    down = messages((0, 1), (0, 2), (1, 3), (2, 4))
    across = messages(*exchanged).with_columns(start=pl.lit(9.0), end=pl.lit(10.0), round=pl.lit(9, pl.Int64))
    return pl.concat([down, across])


def test_halves_that_pairs_exchange_are_arcs_next_to_the_tree() -> None:
    sent = halves((1, 2), (2, 1), (3, 4), (4, 3))
    tree = tree_of(sent)
    assert tree is not None
    assert tree.parents == {1: 0, 2: 0, 3: 1, 4: 2}
    assert tree.exchanged == {(1, 2), (2, 1), (3, 4), (4, 3)}
    drawn = [str(item["text"]) for item in items(message_tree(sent, tree), "text")]
    assert drawn.count("9–10") == 2 * 2  # each pair's label and its halo
    arcs = items(message_tree(sent, tree), "line")
    assert len(arcs) == 3 * 2  # points of each
    assert all(item["strokeDash"] for item in arcs)
    assert any("exchanged" in words for words in drawn)


@pytest.mark.parametrize(
    "exchanged",
    [
        ((1, 2), (2, 1), (3, 4)),  # 3 lacks a half
        ((1, 2), (2, 3), (3, 4), (4, 1)),  # a ring
        ((1, 0), (2, 1), (3, 4), (4, 3)),  # the root hears
    ],
)
def test_a_tree_with_other_messages_is_not_a_tree(exchanged: tuple[tuple[int, int], ...]) -> None:
    assert tree_of(halves(*exchanged)) is None


def test_a_tree_there_and_back_says_when_both_ways() -> None:
    sent = messages((3, 1), (1, 0), (2, 0), (0, 1), (0, 2), (1, 3))
    tree = tree_of(sent)
    assert tree is not None
    assert (tree.root, tree.parents, tree.flow) == (0, {1: 0, 2: 0, 3: 1}, "back")
    drawn = {str(item["text"]) for item in items(message_tree(sent, tree), "text")}
    assert {"↑0–1 ↓5–6", "↑1–2 ↓3–4", "↑2–3 ↓4–5"} <= drawn


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
