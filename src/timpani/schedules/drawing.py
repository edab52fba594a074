"""Draw one of Timpani's algorithms as a figure, or write its trace: `timpani draw`."""

import json
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path
from typing import Annotated, Any, Self

import polars as pl
import typer

from timpani.cli.terminal.completing import complete_own_algorithm
from timpani.cli.terminal.figure_options import FigureOptions
from timpani.cli.terminal.options import Force, expand, output_option
from timpani.errors import UserError, unknown
from timpani.libraries.catalogue import Catalogue
from timpani.libraries.find import first_mpi
from timpani.native.build import build_without_mpi
from timpani.report.document.output_files import check_new, write_file
from timpani.report.figures.drawn_figures import AS_IN_THE_REPORT, FIGURE_FORMATS, FigureStyle, figure_bytes, figure_svg
from timpani.report.figures.theme import Chart
from timpani.schedules.algorithms.simulation import EqualNodes, SimulatedCall, Simulator
from timpani.schedules.algorithms.verification import own_catalogue
from timpani.schedules.figures import message_tree, peer_matrix, timeline, tree_of
from timpani.study.cell import Algorithm
from timpani.study.operations import is_sized
from timpani.study.sizes import parse_size, show_size
from timpani.study.words import counted

_TRACE = "json"
FORMATS = (*FIGURE_FORMATS, _TRACE)

_MAX_RANKS_DRAWN = 4096


class View(Enum):
    """What a figure shows: the tree that messages flow along, the pairs that they flow between, or when they do."""

    tree = auto()
    matrix = auto()
    timeline = auto()


@dataclass(frozen=True)
class Drawing:
    """A call of one of Timpani's algorithms, to draw.

    note  what is wrong in the call: the title ends with it, and the call is also drawn if it sends nothing
    """

    call: SimulatedCall
    note: str = ""

    @classmethod
    def from_name(
        cls,
        name: str,
        own: Catalogue,
        ranks: int,
        message_bytes: int,
        root: int,
        where: EqualNodes | None = None,
    ) -> Self:
        """The call that `COLLECTIVE/ALGORITHM[:parameter=value,…]` names, on single bytes; `where` places its ranks."""
        collective, slash, algorithm = name.removeprefix(f"{own.provider}/").partition("/")
        if collective not in own.algorithms:
            raise unknown("collective", collective, own.algorithms, "timpani list algorithms")
        if not slash:
            example = f"{collective}/{own.algorithms[collective][0].name}"
            raise UserError(f"'{name}' is not an algorithm", f"write for example {example}")
        if root >= ranks:
            raise UserError(f"there is no root {root} among {ranks} ranks", f"choose 0 to {ranks - 1}")
        resolved = own.resolve(collective, Algorithm.parse(algorithm))
        info = own.info(collective, resolved)
        if info is not None and info.restrictions.topology and where is None:
            raise UserError(f"{name} depends on which ranks share a node", "say how many nodes there are: --nodes 4")
        count = message_bytes if is_sized(collective) else 0
        return cls(SimulatedCall(collective, resolved, ranks, count, root, places=where or ()))

    def write(
        self,
        simulator: Simulator,
        view: View,
        path: Path,
        force: bool = False,
        format: str | None = None,
        style: FigureStyle = AS_IN_THE_REPORT,
    ) -> Path:
        """Draw into the file `path` in one of FORMATS, which its suffix says where `format` does not; returns it. One
        that exists is overwritten with `force`."""
        format = format or path.suffix.removeprefix(".")
        if format not in FORMATS:
            *most, last = FORMATS
            raise UserError(f"unknown kind of file {format or str(path)!r}", f"write {', '.join(most)} or {last}")
        check_new(path, force)
        if self.call.ranks > _MAX_RANKS_DRAWN:
            raise UserError(f"{self.call.ranks} ranks are too many to draw", f"choose {_MAX_RANKS_DRAWN} or fewer")
        shows_waiting = view is View.timeline and format in FIGURE_FORMATS
        (events,) = simulator.events([self.call], unfinished=shows_waiting)
        if format == _TRACE:
            write_file(path, json.dumps(trace(events, self._title(events))).encode(), force)
            return path
        if not events.height and not self.note:
            raise UserError(
                f"no message is sent in {self._name} on {counted(self.call.ranks, 'rank')}", "draw it on more ranks"
            )
        drawn = figure_svg(self._chart(events, view), self._title(events), style)
        write_file(path, figure_bytes(drawn, format), force)
        return path

    def _chart(self, events: pl.DataFrame, view: View) -> Chart:
        messages = events.filter(kind="send")
        if view is View.timeline:
            return timeline(events, self.call.ranks)
        tree = tree_of(messages, self.call.root) if view is View.tree else None
        return message_tree(messages, tree) if tree else peer_matrix(messages, self.call.ranks)

    @property
    def _name(self) -> str:
        return f"{self.call.collective}/{self.call.algorithm.plain}"

    def _title(self, events: pl.DataFrame) -> str:
        """What is drawn, and how long it takes on the unit clock."""
        size = [show_size(self.call.count)] if is_sized(self.call.collective) else []
        root = [f"root {self.call.root}"] if self.call.root else []
        nodes = [counted(self.call.places.nodes, "node")] if isinstance(self.call.places, EqualNodes) else []
        ticks = round(max(events["end"].drop_nulls(), default=0))
        after = "ranks wait forever after " if events["end"].has_nulls() else ""
        parts = [
            self._name,
            counted(self.call.ranks, "rank"),
            *nodes,
            *size,
            *root,
            f"{after}{counted(ticks, 'tick')} of the unit clock",
            *([self.note] if self.note else []),
        ]
        return ", ".join(parts)


def equal_nodes(ranks: int, nodes: int, groups: int, by: str) -> EqualNodes:
    """`ranks` on `nodes` in equal `groups`; UserError if some nodes or groups would be empty."""
    if by not in ("core", "node"):
        raise unknown("order of ranks", by, ("core", "node"), "timpani draw --help")
    if nodes > ranks or groups > nodes:
        raise UserError(f"{ranks} ranks on {nodes} nodes in {groups} groups leave some empty", "choose fewer of them")
    return EqualNodes(nodes, groups, "core" if by == "core" else "node")


def trace(events: pl.DataFrame, title: str) -> dict[str, Any]:
    """The trace of `events` (columns of EVENT_SCHEMA): a process for each rank, with threads for sends, receives and
    computation, and an arrow for each message."""
    lines: list[dict[str, Any]] = []
    ranks = sorted({*events["rank"], *events.filter(kind="send")["peer"]})
    for rank in ranks:
        lines.append({"ph": "M", "pid": rank, "name": "process_name", "args": {"name": f"rank {rank}"}})
        lines.append({"ph": "M", "pid": rank, "name": "process_sort_index", "args": {"sort_index": rank}})
        lines.extend(
            {"ph": "M", "pid": rank, "tid": tid, "name": "thread_name", "args": {"name": name}}
            for tid, name in enumerate(("sends", "receives", "computes"))
        )
    for number, event in enumerate(events.iter_rows(named=True)):
        lines.extend(_message(event, number) if event["kind"] == "send" else [_local(event)])
    return {"traceEvents": lines, "displayTimeUnit": "ns", "otherData": {"title": title, "clock": "one tick = 1 us"}}


def _message(event: dict[str, Any], number: int) -> list[dict[str, Any]]:
    sender, receiver = event["rank"], event["peer"]
    times = _times(event)
    arguments = {"round": event["round"], "bytes": event["bytes"]}
    flow = {"cat": "message", "name": "message", "id": number}
    return [
        {"ph": "X", "cat": "send", "name": f"to {receiver}", "pid": sender, "tid": 0, **times, "args": arguments},
        {"ph": "X", "cat": "receive", "name": f"from {sender}", "pid": receiver, "tid": 1, **times, "args": arguments},
        {"ph": "s", **flow, "pid": sender, "tid": 0, "ts": times["ts"]},
        {"ph": "f", "bp": "e", **flow, "pid": receiver, "tid": 1, "ts": times["ts"] + times["dur"]},
    ]


def _local(event: dict[str, Any]) -> dict[str, Any]:
    arguments = {"round": event["round"], "bytes": event["bytes"]}
    return {
        **{"ph": "X", "cat": event["kind"], "name": event["kind"], "pid": event["rank"], "tid": 2},
        **_times(event),
        "args": arguments,
    }


def _times(event: dict[str, Any]) -> dict[str, float]:
    """In microseconds, the format's unit: one for each tick of the clock."""
    return {"ts": event["start"], "dur": event["end"] - event["start"]}


@expand(style=FigureOptions)
def draw(
    *,
    name: Annotated[
        str,
        typer.Argument(
            help="A Timpani algorithm, COLLECTIVE/NAME[:parameter=value,…]: bcast/knomial:radix=4.",
            autocompletion=complete_own_algorithm,
        ),
    ],
    output: Annotated[Path, output_option("A new .svg, .png or .pdf file; .json: a trace for Perfetto.")],
    format: Annotated[str | None, typer.Option(help="svg, png, pdf or json, whatever the file's suffix says.")] = None,
    ranks: Annotated[int, typer.Option(help="Rank count; up to 4096.", min=1, max=1 << 20)] = 16,
    size: Annotated[str, typer.Option(help="Bytes, as `timpani run --sizes` counts them.")] = "1Mi",
    root: Annotated[int, typer.Option(help="Root of collectives that have one.", min=0)] = 0,
    nodes: Annotated[
        int | None, typer.Option(help="Nodes, for algorithms that depend on which ranks share one.", min=1)
    ] = None,
    groups: Annotated[int, typer.Option(help="Groups of nodes, all of one size.", min=1)] = 1,
    by: Annotated[
        str, typer.Option(help="core: ranks fill one node after the other; node: round robin over nodes.")
    ] = "core",
    timeline: Annotated[
        bool, typer.Option("--timeline", help="Draw when each message is sent; a message takes one tick.")
    ] = False,
    matrix: Annotated[
        bool, typer.Option("--matrix", help="Draw how much each rank sends to each other, even for a tree.")
    ] = (False),
    style: FigureOptions,
    force: Force = False,
) -> None:
    """Draw one of Timpani's algorithms: its tree, or which rank sends to which; or a time line, or a trace."""
    if not nodes and (groups, by) != (1, "core"):
        raise UserError("--groups and --by need nodes", "say how many: --nodes 4")
    mpi = first_mpi()
    where = equal_nodes(ranks, nodes, groups, by) if nodes else None
    drawing = Drawing.from_name(name, own_catalogue(mpi), ranks, parse_size(size), root, where)
    view = View.timeline if timeline else View.matrix if matrix else View.tree
    typer.echo(drawing.write(Simulator(build_without_mpi(mpi)), view, output, force, format, style.chosen()))
