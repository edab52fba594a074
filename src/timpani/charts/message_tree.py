"""The tree along which a message is passed on: a node for each rank; edges say when messages flow."""

from collections.abc import Iterator
from typing import Any

import altair as alt
import polars as pl

from timpani.charts.marks import theme
from timpani.charts.marks.tree import Tree

_LEVEL = 70  # pixels from a rank to those it sends to
_LEAF = 34  # pixels from leaf to leaf, where there is room
_SAG = 0.45  # of a level, how far below its ends the middle of an exchange's arc is pulled
_CAPTION = "Dashed: exchanged by pairs of ranks, after the tree"

_Place = tuple[float, int]
"""Horizontal and vertical place of a rank, in leaves and levels."""

_Flow = dict[str, Any]
"""All messages from one rank to another: `rank`, `peer`, `messages`, `bytes`, `start`, `end`."""


def message_tree(messages: pl.DataFrame, tree: Tree, palette: theme.Palette = theme.LIGHT) -> theme.Chart:
    """The tree of `messages`, columns of EVENT_SCHEMA; children stand in the order in which their messages flow.

    Exchanges outside the tree are dashed arcs.
    """
    places = _places(tree, _first_flow(messages, tree))
    nodes = pl.DataFrame([(rank, *place) for rank, place in places.items()], schema=["rank", "x", "y"], orient="row")
    flows = (
        messages.group_by("rank", "peer")
        .agg(pl.len().alias("messages"), pl.sum("bytes"), pl.min("start"), pl.max("end"))
        .sort("start", "rank")
        .to_dicts()
    )
    edges = pl.DataFrame(list(_edges(flows, tree, places)))
    arcs = pl.DataFrame(list(_arcs(flows, tree, places)), schema=_ARC)
    across, down = _x_axis("x"), _y_axis("y")
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
    dashed = (
        alt.Chart(arcs)
        .mark_line(color=palette.slower, strokeWidth=1.2, strokeDash=[4, 3], interpolate="basis")
        .encode(x=across, y=down, detail="pair:N", order="step:Q")
    )
    named = pl.concat([edges.select("label_x", "label_y", "label"), _labels(arcs)])
    labeled = alt.Chart(named).encode(x=_x_axis("label_x"), y=_y_axis("label_y"), text="label:N")
    halo = labeled.mark_text(fontSize=10, stroke=palette.paper, strokeWidth=3, strokeJoin="round")
    times = labeled.mark_text(fontSize=10, color=palette.faster)
    placed = alt.Chart(nodes).encode(x=across, y=down)
    circles = placed.mark_circle(size=420, color=palette.paper, stroke=palette.text, opacity=1)
    names = placed.mark_text(fontSize=11, color=palette.text).encode(text="rank:Q")
    caption = (
        alt.Chart(pl.DataFrame({"words": [_CAPTION] * bool(tree.exchanged)}, schema={"words": pl.String()}))
        .mark_text(fontSize=11, align="left", baseline="bottom", color=palette.quiet)
        .encode(x=alt.XValue(0), y=alt.YValue(alt.expr("height")), text=alt.Text("words:N"))
    )
    chart = theme.layer(
        lines,
        dashed,
        halo,
        times,
        circles,
        names,
        caption,
        width=max(theme.WIDTH, _LEAF * len(set(nodes["x"]))),
        height=_LEVEL * (max(nodes["y"]) + (_SAG if tree.exchanged else 0)) + 50,
    )
    return theme.apply(
        chart, palette, "Tree of the ranks that pass a message on; edges say when it flows, arcs when ranks exchange"
    )


def _x_axis(column: str) -> alt.X:
    return alt.X(f"{column}:Q", axis=None, scale=alt.Scale(nice=False, zero=False, padding=20))


def _y_axis(column: str) -> alt.Y:
    return alt.Y(f"{column}:Q", axis=None, scale=alt.Scale(reverse=True, nice=False, zero=False, padding=24))


def _first_flow(messages: pl.DataFrame, tree: Tree) -> list[int]:
    """The ranks but the root, by when the first message on their edge flows."""
    child, parent = ("peer", "rank") if tree.flow == "outward" else ("rank", "peer")
    edges = pl.DataFrame({child: list(tree.parents), parent: list(tree.parents.values())})
    along = messages.join(edges, on=[child, parent], how="semi").sort("start", "round", child)
    return along.select(child).unique(maintain_order=True)[child].to_list()


def _places(tree: Tree, order: list[int]) -> dict[int, _Place]:
    """Horizontal and vertical place of each rank: leaves side by side, parents over the middle of their children."""
    children = tree.children(order)
    places: dict[int, _Place] = {}
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


def _edges(flows: list[_Flow], tree: Tree, places: dict[int, _Place]) -> Iterator[dict[str, Any]]:
    """A row for each edge of the tree, with the place of its label: nearer to the child, where edges are further apart.

    Where messages go to the root and back, both are in the label.
    """
    by_child: dict[int, list[_Flow]] = {}
    for flow in flows:
        if (flow["rank"], flow["peer"]) not in tree.exchanged:
            child = flow["peer"] if tree.parents.get(flow["peer"]) == flow["rank"] else flow["rank"]
            by_child.setdefault(child, []).append(flow)
    for child, (first, *back) in by_child.items():
        (x, y), (x2, y2) = places[tree.parents[child]], places[child]
        label = f"↑{_flow_label(first)} ↓{_flow_label(back[0])}" if back else _flow_label(first)
        at = {"label_x": x + 0.6 * (x2 - x), "label_y": y + 0.6 * (y2 - y)}
        yield {**first, "x": x, "y": float(y), "x2": x2, "y2": float(y2), **at, "label": label}


_ARC = {"pair": pl.String(), "step": pl.Int64(), "x": pl.Float64(), "y": pl.Float64(), "label": pl.String()}


def _arcs(flows: list[_Flow], tree: Tree, places: dict[int, _Place]) -> Iterator[dict[str, Any]]:
    """Three points of an arc for each pair that exchanges."""
    pairs: dict[tuple[int, ...], _Flow] = {}
    for flow in flows:
        if (ends := (flow["rank"], flow["peer"])) in tree.exchanged:
            pair = tuple(sorted(ends))
            before = pairs.get(pair, flow)
            pairs[pair] = {**before, "end": max(before["end"], flow["end"])}
    for (one, other), flow in pairs.items():
        (x, y), (x2, y2) = places[one], places[other]
        points = ((x, y), ((x + x2) / 2, (y + y2) / 2 + _SAG), (x2, y2))
        for step, (across, down) in enumerate(points):
            yield {"pair": f"{one} {other}", "step": step, "x": across, "y": float(down), "label": _flow_label(flow)}


def _labels(arcs: pl.DataFrame) -> pl.DataFrame:
    """Where the label of each arc stands: in its middle, where a cubic B-spline weighs its points (1, 4, 1)/6."""
    middle = [((pl.col(axis) * pl.Series([1, 4, 1])).sum() / 6).alias(f"label_{axis}") for axis in ("x", "y")]
    return arcs.group_by("pair", maintain_order=True).agg(*middle, pl.first("label")).drop("pair")


def _flow_label(row: _Flow) -> str:
    """When the messages of an edge flow: `0–1`, with their number where there are several."""
    span = f"{row['start']:g}–{row['end']:g}"
    return span if row["messages"] == 1 else f"{span} ({row['messages']:g})"
