"""The gallery: a page for each collective with all of Timpani's algorithms, as `timpani list` and `timpani draw` know
them."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from timpani.libraries.catalogue import AlgorithmInfo, Catalogue
from timpani.libraries.find import first_mpi
from timpani.native.build import build_without_mpi
from timpani.schedules.algorithms.simulation import Simulator
from timpani.schedules.algorithms.verification import read_own_catalogue
from timpani.schedules.drawing import Drawing, View, equal_nodes
from timpani.study.operations import COLLECTIVES
from timpani.study.sizes import parse_size, show_size
from timpani.study.words import counted

RANKS, NODES, GROUPS = 8, 4, 2
"""What each algorithm is drawn on: few enough to read every message, enough for trees of three levels."""

SIZE = "32Ki"
"""Bytes of each drawn call: four segments of 8 KiB, the default of most pipelines."""

_FIGURES = "figures"


@dataclass(frozen=True)
class Gallery:
    """Timpani's algorithms and what simulates them."""

    own: Catalogue
    simulator: Simulator

    @classmethod
    def build(cls) -> "Gallery":
        """The algorithms of this checkout; compiles the native programs where no cache has them."""
        programs = build_without_mpi(first_mpi())
        return cls(read_own_catalogue(programs), Simulator(programs))

    def write(self, folder: Path) -> list[str]:
        """Write all pages and figures into `folder`, a new one; returns the pages' names, the index first."""
        (folder / _FIGURES).mkdir(parents=True)
        collectives = [name for name in COLLECTIVES if name in self.own.algorithms]
        (folder / "README.md").write_text(_index(self.own, collectives))
        for collective in collectives:
            sections = [self._section(info, folder / _FIGURES) for info in self.own.algorithms[collective]]
            head = f"# {COLLECTIVES[collective].title}\n\n{_drawn_on(collective)}\n"
            (folder / f"{collective}.md").write_text("\n".join([head, *sections]))
        return ["README.md", *(f"{collective}.md" for collective in collectives)]

    def _section(self, info: AlgorithmInfo, figures: Path) -> str:
        """An algorithm's picture, what is known of it, and its messages tick by tick."""
        drawing = self._drawing(info)
        picture = figures / f"{info.collective}-{info.name}.svg"
        drawing.write(self.simulator, View.tree, picture)
        (events,) = self.simulator.events([drawing.call])
        lines = [
            f"## {info.name}",
            "",
            f"![{info.name}: who sends to whom]({_FIGURES}/{picture.name})",
            "",
            *_facts(info),
            "",
            '<details markdown="1">',
            f"<summary>{_summary(events)}</summary>",
            "",
            *steps(events),
            "",
            "</details>",
            "",
        ]
        return "\n".join(lines)

    def _drawing(self, info: AlgorithmInfo) -> Drawing:
        places = equal_nodes(RANKS, NODES, GROUPS, "core") if info.restrictions.topology else None
        return Drawing.from_name(f"{info.collective}/{info.name}", self.own, RANKS, parse_size(SIZE), 0, places)


def _index(own: Catalogue, collectives: list[str]) -> str:
    rows = (
        f"| [{COLLECTIVES[name].title}]({name}.md) | {', '.join(info.name for info in own.algorithms[name])} |"
        for name in collectives
    )
    return "\n".join(
        [
            "# Algorithms",
            "",
            "Timpani's algorithms, collective by collective: a picture, the source, the cost, and all messages.",
            "`timpani list algorithms` also lists those of your MPI library. `timpani draw` draws any rank count and",
            "size ([how](../how-to/draw-an-algorithm.md)).",
            "",
            "| collective | algorithms |",
            "|---|---|",
            *rows,
            "",
        ]
    )


def _drawn_on(collective: str) -> str:
    operation = COLLECTIVES[collective]
    size = f", {show_size(parse_size(SIZE))} ({operation.size_meaning})" if operation.sized else ""
    return "\n".join(
        [
            f"Drawn on {RANKS} ranks{size}, with the default parameters.",
            f"Algorithms that depend on nodes are drawn on {NODES} nodes in {GROUPS} groups.",
            "The clock counts ticks: each message takes one tick, whatever its size.",
            "A picture is the tree along which messages flow, or else a table of who sends how much to whom.",
            "In formulas of the cost p is the number of ranks, m the message's bytes, α the latency of a message",
            "and β the time of a byte.",
        ]
    )


def _facts(info: AlgorithmInfo) -> Iterator[str]:
    """The lines of a list of what the catalogue says; nothing of what it leaves open."""
    places = f" --nodes {NODES} --groups {GROUPS}" if info.restrictions.topology else ""
    size = f" --size {SIZE}" if COLLECTIVES[info.collective].sized else ""
    facts = {
        "source": info.source,
        "cost": info.cost,
        "also called": ", ".join(f"`{name}`" for name in info.aliases),
        "restrictions": str(info.restrictions),
        **{f"`{each.name}`": f"{each.meaning} (default {each.default})" for each in info.parameters},
        "drawn by": f"`timpani draw {info.collective}/{info.name} --ranks {RANKS}{size}{places} -o {info.name}.svg`",
    }
    yield from (f"- {name}: {fact}" for name, fact in facts.items() if fact)


def _summary(events: pl.DataFrame) -> str:
    messages = events.filter(kind="send")
    ticks = int(max(messages["end"], default=0))
    return f"{counted(messages.height, 'message')} in {counted(ticks, 'tick')}"


def steps(events: pl.DataFrame) -> Iterator[str]:
    """The lines of a table of all messages of `events` (columns of EVENT_SCHEMA), by the tick in which they start."""
    yield from ("| tick | bytes of each | messages |", "|---|---|---|")
    for (start,), messages in (
        events.filter(kind="send").sort("start", "rank", "peer").group_by("start", maintain_order=True)
    ):
        sizes = sorted(set(messages["bytes"]))
        span = " to ".join(show_size(size) for size in dict.fromkeys((sizes[0], sizes[-1])))
        pairs = ", ".join(f"{sender} → {receiver}" for sender, receiver in messages.select("rank", "peer").iter_rows())
        yield f"| {start + 1:g} | {span} | {pairs} |"
