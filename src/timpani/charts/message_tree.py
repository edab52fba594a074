"""The tree along which a message is passed on: a node for each rank; edges say when messages flow."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import altair as alt
import polars as pl

from timpani.charts import theme

_LEVEL = 70  # pixels from a rank to those it sends to
_LEAF = 34  # pixels from leaf to leaf, where there is room


@dataclass(frozen=True)
class Tree:
    """A tree of ranks. parents: of every rank but the root. inward: whether messages flow to the root."""

    root: int
    parents: dict[int, int]
    inward: bool


def tree_of(messages: pl.DataFrame) -> Tree | None:
    """The tree that messages (columns `rank`, `peer`) flow along, outward from one rank or inward to it, if they do."""
    edges = set(messages.select("rank", "peer").iter_rows())
    for inward in (False, True):
        parents = {sender if inward else receiver: receiver if inward else sender for sender, receiver in edges}
        roots = set(parents.values()) - parents.keys()
        if (
            len(parents) == len(edges) and len(roots) == 1
        ):  # one parent each and a single root; `_connected` rules out cycles
            (root,) = roots
            if _connected(root, parents):
                return Tree(root, parents, inward)
    return None


def message_tree(messages: pl.DataFrame, tree: Tree, palette: theme.Palette = theme.LIGHT) -> theme.Chart:
    """The tree of `messages`, columns of EVENT_SCHEMA; children stand in the order in which their messages flow."""
    places = _places(tree, _first_flow(messages, tree))
    nodes = pl.DataFrame([(rank, *place) for rank, place in places.items()], schema=["rank", "x", "y"], orient="row")
    flows = messages.group_by("rank", "peer").agg(
        pl.len().alias("messages"), pl.sum("bytes"), pl.min("start"), pl.max("end")
    )
    edges = pl.DataFrame(
        [
            {**row, **_between(places[row["rank"]], places[row["peer"]], tree.inward), "label": _flow_label(row)}
            for row in flows.iter_rows(named=True)
        ]
    )
    across, down = _across("x"), _down("y")
    lines = (
        alt.Chart(edges)
        .mark_rule(color=palette.quiet, strokeWidth=1.2)
        .encode(
            x=across,
            y=down,
            x2="x2:Q",
            y2="y2:Q",
            tooltip=["rank:Q", "peer:Q", "messages:Q", "bytes:Q", "start:Q", "end:Q"],
        )
    )
    labelled = alt.Chart(edges).encode(x=_across("label_x"), y=_down("label_y"), text="label:N")
    halo = labelled.mark_text(fontSize=10, stroke=palette.paper, strokeWidth=3, strokeJoin="round")
    times = labelled.mark_text(fontSize=10, color=palette.faster)
    placed = alt.Chart(nodes).encode(x=across, y=down)
    circles = placed.mark_circle(size=420, color=palette.paper, stroke=palette.text, opacity=1)
    names = placed.mark_text(fontSize=11, color=palette.text).encode(text="rank:Q")
    chart = alt.layer(lines, halo, times, circles, names).properties(
        width=max(theme.WIDTH, _LEAF * len(set(nodes["x"]))),
        height=_LEVEL * max(nodes["y"]) + 50,
    )
    return theme.apply(chart, palette, "Tree of the ranks that pass a message on; edges say when it flows")


def _across(column: str) -> alt.X:
    return alt.X(f"{column}:Q", axis=None, scale=alt.Scale(nice=False, zero=False, padding=20))


def _down(column: str) -> alt.Y:
    return alt.Y(f"{column}:Q", axis=None, scale=alt.Scale(reverse=True, nice=False, zero=False, padding=24))


def _connected(root: int, parents: dict[int, int]) -> bool:
    reached = {root}
    children = _children(parents, parents)
    waiting = [root]
    while waiting:
        new = children[waiting.pop()]
        reached.update(new)
        waiting.extend(new)
    return len(reached) == len(parents) + 1


def _children(parents: dict[int, int], order: Iterable[int]) -> defaultdict[int, list[int]]:
    children: defaultdict[int, list[int]] = defaultdict(list)
    for rank in order:
        children[parents[rank]].append(rank)
    return children


def _first_flow(messages: pl.DataFrame, tree: Tree) -> list[int]:
    """The ranks but the root, by when the first message on their edge flows."""
    child = "rank" if tree.inward else "peer"
    return messages.sort("start", "round", child).select(child).unique(maintain_order=True)[child].to_list()


def _places(tree: Tree, order: list[int]) -> dict[int, tuple[float, int]]:
    """Horizontal and vertical place of each rank: leaves side by side, parents over the middle of their children."""
    children = _children(tree.parents, order)
    places: dict[int, tuple[float, int]] = {}
    leaves = 0
    waiting = [(tree.root, 0, False)]
    while waiting:
        rank, depth, entered = waiting.pop()
        if not children[rank]:
            places[rank] = (float(leaves), depth)
            leaves += 1
        elif entered:
            across = [places[child][0] for child in children[rank]]
            places[rank] = ((min(across) + max(across)) / 2, depth)
        else:
            waiting.append((rank, depth, True))
            waiting.extend((child, depth + 1, False) for child in reversed(children[rank]))
    return places


def _between(sender: tuple[float, int], receiver: tuple[float, int], inward: bool) -> dict[str, float]:
    """The ends of an edge, and the place of its label: nearer to the child, where edges are further apart."""
    parent, child = (receiver, sender) if inward else (sender, receiver)
    return {
        "x": parent[0],
        "y": parent[1],
        "x2": child[0],
        "y2": child[1],
        "label_x": parent[0] + 0.6 * (child[0] - parent[0]),
        "label_y": parent[1] + 0.6 * (child[1] - parent[1]),
    }


def _flow_label(row: dict[str, float]) -> str:
    """When the messages of an edge flow: `0–1`, with their number where there are several."""
    span = f"{row['start']:g}–{row['end']:g}"
    return span if row["messages"] == 1 else f"{span} ({row['messages']:g})"
