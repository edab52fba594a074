"""One algorithm drawn by its messages: the tree along which they flow, the pairs of ranks, or when each rank sends."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import ceil
from typing import Any, Literal, Self

import altair as alt
import polars as pl

from timpani.report.figures import axes, theme

Edge = tuple[int, int]
"""Who sends, to whom."""


@dataclass(frozen=True)
class Tree:
    """A tree of ranks.

    parents    of every rank but the root
    flow       outward from the root, inward to it, or inward and then back
    exchanged  messages outside the tree, after it: each rank exchanges them with one other only
    """

    root: int
    parents: dict[int, int]
    flow: Literal["outward", "inward", "back"]
    exchanged: frozenset[Edge] = frozenset()

    @classmethod
    def from_edges(cls, edges: Iterable[Edge], flow: Literal["outward", "inward", "back"]) -> Self | None:
        """The tree that these edges are, outward from its root or, `inward` and `back`, to it; if they are one."""
        edges = set(edges)
        parents = dict(edges) if flow != "outward" else {b: a for a, b in edges}
        roots = set(parents.values()) - parents.keys()
        if len(parents) != len(edges) or len(roots) != 1:  # a rank with two parents, or not one root
            return None
        (root,) = roots
        found = cls(root, parents, flow)
        return found if found.is_connected() else None

    def is_connected(self) -> bool:
        """Whether every rank is reached from the root: cycles outside the tree aren't."""
        children = self.children(self.parents)
        reached = {self.root}
        waiting = [self.root]
        while waiting:
            new = children[waiting.pop()]
            reached.update(new)
            waiting.extend(new)
        return len(reached) == len(self.parents) + 1

    def children(self, order: Iterable[int]) -> defaultdict[int, list[int]]:
        """The children of each rank, in the order in which they come in `order`."""
        children: defaultdict[int, list[int]] = defaultdict(list)
        for rank in order:
            children[self.parents[rank]].append(rank)
        return children


def tree_of(messages: pl.DataFrame, root: int = 0) -> Tree | None:
    """The tree that messages (columns `rank`, `peer`, `round`, `bytes`) flow along, if they do.

    A chain, of which either end could be the root, is seen from `root`.

    Either all flow outward, or all inward, or inward first and then back along the same edges. Or they flow outward,
    and in later rounds messages outside the tree go between pairs of ranks. Every rank has then received equally many
    bytes: a part from its parent, and the other from its partner.
    """
    flows = messages.group_by("rank", "peer").agg(pl.min("round").alias("first"), pl.max("round").alias("last"))
    rounds = {(rank, peer): (first, last) for rank, peer, first, last in flows.iter_rows()}
    one_way = [tree for tree in (Tree.from_edges(rounds, "outward"), Tree.from_edges(rounds, "inward")) if tree]
    if one_way:
        return next((tree for tree in one_way if tree.root == root), one_way[0])
    return _there_and_back(rounds) or _exchanging(messages, rounds)


_Rounds = dict[Edge, tuple[int, int]]
"""For each edge the round of its first message and of its last."""


def _there_and_back(rounds: _Rounds) -> Tree | None:
    """The tree of a reduction and a broadcast, say, if on each edge everything comes before all that goes back."""
    if any((b, a) not in rounds for a, b in rounds):
        return None
    first = [(a, b) for a, b in rounds if rounds[a, b][1] < rounds[b, a][0]]
    return Tree.from_edges(first, "back") if 2 * len(first) == len(rounds) else None


def _exchanging(messages: pl.DataFrame, rounds: _Rounds) -> Tree | None:
    """The tree along which each rank first hears, if all messages after it go between pairs."""
    heard = messages.sort("round").unique("peer", keep="first", maintain_order=True)
    along = set(heard.select("rank", "peer").iter_rows())
    other_edges = frozenset(rounds.keys() - along)
    partners: defaultdict[int, set[int]] = defaultdict(set)
    for a, b in other_edges:
        partners[a].add(b)
        partners[b].add(a)
    in_pairs = all(len(others) == 1 for others in partners.values())
    last = max(rounds[edge][1] for edge in along)
    after = all(rounds[edge][0] > last for edge in other_edges)
    received = messages.group_by("peer").agg(pl.sum("bytes"))["bytes"]
    tree = Tree.from_edges(along, "outward")
    if tree is None or not in_pairs or not after or received.n_unique() > 1:
        return None
    return Tree(tree.root, tree.parents, "outward", other_edges)


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


_CELL = 30  # pixels, where there is room


def peer_matrix(messages: pl.DataFrame, ranks: int, palette: theme.Palette = theme.LIGHT) -> theme.Chart:
    """A square for each pair of ranks, its color the bytes and its number the messages between them.

    messages  columns of EVENT_SCHEMA, a row for each message
    """
    flows = messages.group_by("rank", "peer").agg(pl.len().alias("messages"), pl.sum("bytes"))
    heaviest = max(flows["bytes"], default=0)
    everyone = alt.Scale(domain=list(range(ranks)))
    side = min(theme.WIDTH, _CELL * ranks)
    base = alt.Chart(flows).encode(
        x=alt.X("peer:O", scale=everyone, axis=alt.Axis(title="Receiver", labelAngle=0, orient="top")),
        y=alt.Y("rank:O", scale=everyone, axis=alt.Axis(title="Sender")),
    )
    squares = base.mark_rect(stroke=palette.paper, strokeWidth=1).encode(
        color=alt.Color(
            "bytes:Q",
            scale=alt.Scale(scheme="blues", domainMin=0),
            legend=alt.Legend(
                title="Sent", orient="right", labelExpr=axes.SIZE_LABEL, values=[0, heaviest / 2, heaviest]
            ),
        ),
        tooltip=["rank:Q", "peer:Q", "messages:Q", "bytes:Q"],
    )
    numbers = base.mark_text(fontSize=10).encode(
        text="messages:Q",
        color=alt.condition(f"datum.bytes > {heaviest} / 2", alt.value("#ffffff"), alt.value("#1b1b1b")),
    )
    fits = side >= 16 * ranks  # a number needs that many pixels
    chart = theme.layer(squares, *([numbers] if fits else []), width=side, height=side)
    return theme.apply(chart, palette, "Bytes and messages from each rank to each other")


_LANE = 30  # pixels of a rank's line
_MAX_TICKS = 15  # marks on the axis
_MAX_NAMED = 64  # ranks whose messages have room for a name
_SEND, _RECEIVE, _REDUCE, _WAIT = "sends", "receives", "reduces", "waits forever"


def timeline(events: pl.DataFrame, ranks: int, palette: theme.Palette = theme.LIGHT) -> theme.Chart:
    """The events (columns of EVENT_SCHEMA) of all ranks on the clock; a lane's upper half sends, the lower receives.

    A message that never ends is drawn to the right edge.
    """
    last = max(1, ceil(max(events["end"].drop_nulls(), default=0)))
    if events["end"].has_nulls():
        last += 1
    bars = _bars(events, last)
    colors = {_SEND: palette.series[0], _RECEIVE: palette.series[2], _REDUCE: palette.series[1], _WAIT: palette.unsure}
    found = [what for what in colors if what in set(bars["what"])]
    kinds = alt.Color(
        "what:N",
        scale=alt.Scale(domain=found, range=[colors[what] for what in found]),
        legend=alt.Legend(title=None, symbolType="square"),
    )
    # Vega-Lite keeps no tickMinStep on an axis that layers share, so halves would be labeled as whole ticks.
    ticks = alt.Axis(title="Ticks", grid=True, tickCount=min(last, _MAX_TICKS), format="d")
    lanes = alt.Axis(
        title="Rank",
        values=[rank + 0.5 for rank in range(ranks)],
        labelExpr="floor(datum.value)",
        labelOverlap=False if ranks <= _MAX_NAMED else "greedy",
        grid=False,
        ticks=False,
    )
    all_lanes = alt.Scale(domain=[0, ranks], reverse=True, nice=False)
    x = alt.X("start:Q", axis=ticks, scale=alt.Scale(domain=[0, last], nice=False))
    y = alt.Y("top:Q", scale=all_lanes, axis=lanes)
    middle = alt.Y("middle:Q", scale=all_lanes, axis=lanes)
    tooltip = ["rank:Q", "what:N", "peer:Q", "round:Q", "bytes:Q", "start:Q", "end:Q"]
    drawn = (
        alt.Chart(bars)
        .mark_rect(stroke=palette.paper, strokeWidth=0.6)
        .encode(x=x, x2="end:Q", y=y, y2="bottom:Q", color=kinds, tooltip=tooltip)
    )
    arrows = (
        alt.Chart(bars.filter(what=_SEND))
        .mark_rule(color=palette.quiet, opacity=0.5, strokeWidth=0.8)
        .encode(x=x, x2="end:Q", y=middle, y2="arrives:Q")
    )
    names = (
        alt.Chart(bars.filter(pl.col("what") != _REDUCE))
        .transform_calculate(middle_of_time="(datum.start + datum.end) / 2")
        .mark_text(fontSize=10, color=palette.paper)
        .encode(x=alt.X("middle_of_time:Q", axis=ticks), y=middle, text="label:N")
    )
    height = _LANE * ranks
    width = theme.WIDTH
    fits = width / last >= 22 and ranks <= _MAX_NAMED  # pixels that `→15` needs
    chart = theme.layer(arrows, drawn, *([names] if fits else []), width=width, height=height)
    return theme.apply(chart, palette, "When each rank sends and receives")


def _bars(events: pl.DataFrame, last: int) -> pl.DataFrame:
    """A bar for each end of each message and for each reduction that takes time, with its place in the rank's lane.

    last  when the axis ends
    """
    waits = pl.col("end").is_null()
    sends = events.filter(~waits, kind="send")
    sent = sends.with_columns(pl.lit(_SEND).alias("what"), pl.format("→{}", "peer").alias("label"))
    received = sends.with_columns(
        pl.col("peer").alias("rank"),
        pl.col("rank").alias("peer"),
        pl.lit(_RECEIVE).alias("what"),
        pl.format("←{}", "rank").alias("label"),
    )
    reduced = events.filter(pl.col("kind") == "reduce", pl.col("end") > pl.col("start")).with_columns(
        pl.lit(_REDUCE).alias("what"), pl.lit("").alias("label")
    )
    waiting = events.filter(waits).with_columns(
        pl.lit(float(last)).alias("end"),
        pl.lit(_WAIT).alias("what"),
        pl.when(kind="send").then(pl.format("→{}", "peer")).otherwise(pl.format("←{}", "peer")).alias("label"),
    )
    lower = (pl.col("what") == _RECEIVE) | (pl.col("kind") == "receive")
    return pl.concat([sent, received, reduced, waiting]).with_columns(
        top=pl.col("rank") + pl.when(lower).then(0.5).otherwise(0.08),
        bottom=pl.col("rank") + pl.when(lower).then(0.92).otherwise(0.5),
        middle=pl.col("rank") + pl.when(lower).then(0.71).otherwise(0.29),
        arrives=pl.col("peer") + 0.71,
    )
