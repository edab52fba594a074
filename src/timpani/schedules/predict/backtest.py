"""What predictions are worth: the largest scales of measured series are hidden, predicted by several methods, compared.

A method predicts times, from which errors follow, and chooses an algorithm for each size, from which regret follows.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import inf, log, log2
from time import monotonic
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from timpani.campaign.folder.load import Campaign
from timpani.errors import UserError
from timpani.judge.cell_table import estimate_cells
from timpani.judge.raced import raced_results
from timpani.report.document.blocks import MISSING, Document, Sentence, Table, Value, rows
from timpani.schedules.algorithms.simulation import (
    NO_CLOSER_LINES,
    CostLine,
    Costs,
    EqualNodes,
    SimulatedCall,
    Simulator,
)
from timpani.schedules.predict.calibrate import Observation, estimate
from timpani.schedules.predict.calibration import Announce, announce_calibration
from timpani.schedules.predict.observed import Places, places_of
from timpani.schedules.predict.predicted_rules import hedged_choice
from timpani.study.cell import OWN, Algorithm
from timpani.study.operations import COLLECTIVES
from timpani.study.schema import MEASURED_US, cell_of
from timpani.study.words import counted

_SUFFIX = re.compile(r"_(ompi|mpich|over|mpi)$")
"""PICO appends who implements an algorithm."""

_EQUAL_NAMES = {
    "basic_linear": "linear",
    "brucks": "bruck",
    "k_bruck": "bruck",
    "neighbor": "neighbor_exchange",
    "binary_tree": "binary",
    "in_order": "in_order_binary",
    "split_binary_tree": "split_binary",
    "recursive_distance_doubling": "recursive_halving",
    "modified_bruck": "bruck",
    "nonoverlapping": "reduce_bcast",
    "non_overlapping": "reduce_bcast",
    "reduce_scatter_allgather": "rabenseifner",
}
"""Names of libraries (Open MPI, MPICH, Fujitsu MPI) and of PICO for Timpani's algorithms."""

_BINE = {
    "bcast": (("bine", r"bine_lat\w*|bine_binomial_tree(_tmpbuf)?_utofu_0_1"),),
    "reduce": (("bine", r"bine_lat|bine_binomial_tree_utofu_0_1"),),
    "allgather": (
        ("bine_blocks", r"bine_block_by_block(_over)?(_any_even)?|sparbit|bine_vec_doubling_blocks_utofu_0_1"),
        ("bine", r"bine_(2_blocks|send|permute)\w*|bine_vec_doubling_cont_\w+_0_1"),
    ),
    "reduce_scatter": (
        ("bine_blocks", r"bine_block_by_block(_over)?(_any_even)?"),
        ("bine", r"bine_(send|permute)\w*|bine_vec_halving_cont_\w+_0_1"),
    ),
    "allreduce": (("bine", r"bine_lat|bine_l_utofu_0_1"), ("bine_allgather", r"bine_bdw\w*|bine_b_cont_utofu_0_1")),
}
"""Patterns of PICO's names: what is sent whole, in ranges or block by block; on Fugaku by one port, unsegmented."""

_SCHEDULES = {
    "allgather": ("bruck", "gather_bcast", "neighbor_exchange", "recursive_doubling", "ring"),
    "allreduce": ("rabenseifner", "recursive_doubling", "reduce_bcast", "ring"),
    "alltoall": ("bruck", "pairwise"),
    "bcast": ("binary", "binomial", "knomial", "linear", "scatter_allgather", "scatter_allgather_ring", "split_binary"),
    "gather": ("binomial", "linear"),
    "reduce": ("binary", "binomial", "in_order_binary", "linear", "rabenseifner"),
    "reduce_scatter": ("pairwise", "recursive_halving", "ring"),
    "scatter": ("binomial", "linear"),
}
"""Names of others that are Timpani's, by collective: the same name may mean another schedule elsewhere."""


_WHOLE = ("binary", "in_order_binary", "split_binary")
"""Schedules that libraries don't cut into segments where their user names the algorithm alone."""


def schedule_named(collective: str, name: str) -> Algorithm | None:
    """Timpani's schedule with the messages of the algorithm called `name`; None if it is unknown, as a default's is."""
    plain = name.lower().replace("-", "_").removeprefix("default_")
    if re.search(r"segmented(_over)?$", plain):  # segments of an unknown size
        return None
    plain = _SUFFIX.sub("", _SUFFIX.sub("", plain))
    for schedule, pattern in _BINE.get(collective, ()):
        if re.fullmatch(pattern, plain):
            return Algorithm(OWN, schedule)
    plain = _EQUAL_NAMES.get(plain, plain)
    parameters = (("segment_bytes", 0),) if plain in _WHOLE else ()
    return Algorithm(OWN, plain, parameters) if plain in _SCHEDULES.get(collective, ()) else None


DEFAULT_METHOD, BEST, FITS, MODEL, ANCHORED = METHODS = ("default", "best", "fits", "model", "anchored")
_MEANINGS = {
    DEFAULT_METHOD: "the library's default",
    BEST: "the fastest at the largest known scale",
    FITS: "fits of a + b log n",
    MODEL: "the model alone",
    ANCHORED: "measured time × growth of the schedule; hedged choice",
}

BUCKETS = (2.0, 4.0, 8.0, 64.0, inf)
"""Upper bounds of the factors between known and hidden ranks that share a row."""

_SLOWER = 1.05
"""A choice that takes more than this many times the default's time is a loss."""

_LINES = (0, 512, 8192, 131072)
"""First sizes, bytes, of the lines of message costs."""

_ITERATIONS = 4
_MAX_MESSAGES = 1 << 18
_MAX_CALIBRATING = 1 << 16
_QUADRATIC = ("bine_blocks", "neighbor_exchange", "pairwise", "linear")
"""Schedules of p messages a rank that are simulated rank by rank: more than _MAX_MESSAGES in all are left out, and more
than _MAX_CALIBRATING of a call give no costs."""


@dataclass(frozen=True)
class Measurement:
    """The time of an algorithm.

    series     what calls that are compared have in common: machine, collective, ranks per node, library
    scale      number of ranks or nodes
    size       total bytes where the series is of total bytes, else the collective's message size
    call       by its schedule; None if that is unknown
    """

    series: tuple[object, ...]
    algorithm: str
    is_default: bool
    scale: int
    size: int
    call: SimulatedCall | None
    time: float


def measurements(campaign: Campaign) -> list[Measurement]:
    """Those of a campaign, microseconds. Its scale is the rank count."""
    cells = estimate_cells(raced_results(campaign.of_variant()))
    cells = cells.filter(pl.col("collective").is_in([*COLLECTIVES]), MEASURED_US > 0).with_columns(time=MEASURED_US)
    places = places_of(campaign)
    element_bytes = campaign.header.study.element_bytes_of
    found: list[Measurement] = []
    for _, part in cells.group_by("collective", "placement", "mode", maintain_order=True):
        total = _is_of_totals(part)
        for row in part.iter_rows(named=True):
            cell = cell_of(row)
            found.append(
                Measurement(
                    (cell.collective, cell.placement, cell.mode),
                    str(cell.algorithm),
                    cell.algorithm.is_default,
                    cell.ranks,
                    total_bytes(cell.message_bytes * cell.ranks) if total else cell.message_bytes,
                    call_named(
                        cell.collective,
                        cell.algorithm,
                        cell.ranks,
                        cell.message_bytes // element_bytes(cell.collective),
                        element_bytes(cell.collective),
                        places.get((cell.ranks, cell.placement), ()),
                    ),
                    row["time"],
                )
            )
    return found


def call_named(
    collective: str, algorithm: Algorithm, ranks: int, count: int, element_bytes: int, places: Places | EqualNodes = ()
) -> SimulatedCall | None:
    """The call with the schedule of `algorithm`; None if it is unknown."""
    named = schedule_named(collective, algorithm.plain.replace(":segment_bytes=", "_"))
    schedule = algorithm if algorithm.provider == OWN else named
    if schedule is None or algorithm.is_default:
        return None
    return SimulatedCall(collective, schedule, ranks, count, element_bytes=element_bytes, places=places)


def _is_of_totals(cells: pl.DataFrame) -> bool:
    """Whether more sizes of a series of blocks meet at two rank counts if they are counted in all."""
    movement = COLLECTIVES[cells["collective"][0]].movement
    if movement is None or not {"blocks", "pairs"} & {movement.send.content, movement.receive.content}:
        return False
    totals = (pl.col("message_bytes") * pl.col("ranks")).map_elements(total_bytes, pl.Int64)
    return _shared_sizes(cells, totals) > _shared_sizes(cells, pl.col("message_bytes"))


def _shared_sizes(cells: pl.DataFrame, size: pl.Expr) -> int:
    counts = cells.select(size.alias("size"), "ranks").unique().group_by("size").len()
    return counts.filter(pl.col("len") > 1).height


def total_bytes(exact: int) -> int:
    """Blocks are whole elements, so that totals differ by some: the next of four steps a doubling."""
    return round(2 ** (round(4 * log2(exact)) / 4)) if exact else 0


def backtest(measured: Iterable[Measurement], simulator: Simulator | None, announce: Announce) -> pl.DataFrame:
    """A row for each method, series, pair of a known and a larger, hidden scale, size, and algorithm or choice.

    Without a simulator the methods are those that need none. Columns:

    `series`, `known` and `hidden` scale, `factor`, `size`, `method`, `algorithm`; `error`, |ln(predicted /
    measured)|, of the algorithm's time; `regret` of choosing it and `loss` against the default, null if it was not
    chosen or if there is no default.
    """
    found: list[dict[str, object]] = []
    by_series: dict[tuple[object, ...], list[Measurement]] = defaultdict(list)
    for each in measured:
        by_series[each.series].append(each)
    for series, part in by_series.items():
        scales = sorted({each.scale for each in part})
        for known in scales[:-1]:
            up_to = [each for each in part if each.scale <= known]
            model = _Model(simulator, [each for each in up_to if each.scale == known], announce) if simulator else None
            for hidden in (scale for scale in scales if scale > known):
                rest = [each for each in part if each.scale == hidden]
                where = {"series": str(series), "known": known, "hidden": hidden, "factor": hidden / known}
                found += ({**where, **row} for row in _outcomes(up_to, rest, known, hidden, model))
    if not found:
        raise UserError("no series has two scales with one size in common", "measure at several rank counts")
    return pl.DataFrame(found, infer_schema_length=None)


def _outcomes(
    up_to: Sequence[Measurement], hidden_calls: Sequence[Measurement], known: int, hidden: int, model: "_Model | None"
) -> Iterator[dict[str, object]]:
    last = _by_size(each for each in up_to if each.scale == known)
    truth = _by_size(hidden_calls)
    defaults = {each.algorithm for each in hidden_calls if each.is_default}
    simulated = model.times(hidden_calls) if model else {}
    known_by_model = model.known if model else {}
    fits = _fits(up_to, hidden)
    for size in sorted(last.keys() & truth.keys()):
        both = sorted(last[size].keys() & truth[size].keys())
        if not both:
            continue
        times = {
            BEST: {name: last[size][name] for name in both},
            FITS: {name: fits[size, name] for name in both},
            MODEL: {name: simulated[size, name] for name in both if (size, name) in simulated},
            ANCHORED: {
                name: last[size][name] * simulated[size, name] / known_by_model[size, name]
                for name in both
                if (size, name) in simulated and (size, name) in known_by_model
            },
        }
        default = next((name for name in both if name in defaults), None)
        chosen = {
            DEFAULT_METHOD: default,
            ANCHORED: hedged_choice(last, size, both, default, hidden / known),
            **{
                name: min(times[name], key=lambda each: times[name][each], default=default)
                for name in (BEST, FITS, MODEL)
            },
        }
        if model is None:
            del chosen[MODEL]
        best = min(truth[size].values())
        for method in METHODS:
            for name, time in times.get(method, {}).items():
                yield {"size": size, "method": method, "algorithm": name, "error": abs(log(time / truth[size][name]))}
            if (choice := chosen.get(method)) is not None:
                took = truth[size][choice]
                loss = took / truth[size][default] if default else None
                yield {"size": size, "method": method, "algorithm": choice, "regret": took / best - 1, "loss": loss}


def _by_size(measured: Iterable[Measurement]) -> dict[int, dict[str, float]]:
    """Times by size and algorithm: the median of several, as of two jobs."""
    found: dict[int, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for each in measured:
        found[each.size][each.algorithm].append(each.time)
    return {size: {name: float(np.median(times)) for name, times in part.items()} for size, part in found.items()}


def _fits(up_to: Sequence[Measurement], hidden: int) -> dict[tuple[int, str], float]:
    """Times at `hidden` by a least-squares line over log₂ of the known scales; of one scale, the measured time."""
    points: dict[tuple[int, str], list[tuple[float, float]]] = defaultdict(list)
    for each in up_to:
        points[each.size, each.algorithm].append((log2(each.scale), each.time))
    found = {}
    for key, at in points.items():
        scales, times = np.array(at).T
        least = float(times.min()) / 2
        slope, start = np.polyfit(scales, times, 1) if len(set(scales)) > 1 else (0.0, float(np.median(times)))
        found[key] = max(least, float(start + slope * log2(hidden)))
    return found


class _Model:
    """A simulated network whose costs reproduce all algorithms of a series at the known scale.

    known  simulated times there, by size and algorithm
    """

    def __init__(self, simulator: Simulator, measured: Sequence[Measurement], announce: Announce) -> None:
        self._simulator = simulator
        self.known: dict[tuple[int, str], float] = {}
        times: dict[SimulatedCall, list[float]] = defaultdict(list)
        for each in measured:
            if each.call is not None and _is_cheap(each.call, _MAX_CALIBRATING):
                times[each.call].append(each.time)
        begin = monotonic()
        answers = simulator.times(times, Costs())
        what = f"{counted(len(times), 'call')} of {' '.join(map(str, measured[0].series))} at {measured[0].scale}"
        announce_calibration(announce, (monotonic() - begin) * (_ITERATIONS + 2), what)
        observed = [
            Observation(call, (float(np.median(times[call])),))
            for call, answer in zip(times, answers, strict=True)
            if isinstance(answer, int | float)
        ]
        self._costs = None if len(observed) < len(_LINES) else self._calibrated(observed)
        self.known = self.times(measured)

    def _calibrated(self, observed: Sequence[Observation]) -> Costs:
        shortest = min(each.time for each in observed) / len(_LINES)
        longest = max(each.call.count * each.call.element_bytes for each in observed)
        lines = tuple(CostLine(first, gap=shortest, latency=shortest) for first in _LINES if first <= longest)
        start = Costs(reduced=0.0, messages=(*NO_CLOSER_LINES, lines))
        return estimate(self._simulator, observed, start, _ITERATIONS).costs

    def times(self, measured: Sequence[Measurement]) -> dict[tuple[int, str], float]:
        """Simulated times of those whose schedule is known and can be simulated."""
        if self._costs is None:
            return {}
        calls = {each.call for each in measured if each.call is not None and _is_cheap(each.call)}
        answers = dict(zip(calls, self._simulator.times(calls, self._costs), strict=True))
        return {
            (each.size, each.algorithm): answer
            for each in measured
            if isinstance(answer := answers.get(each.call), int | float) and answer > 0  # type: ignore[arg-type]
        }


def _is_cheap(call: SimulatedCall, most: int = _MAX_MESSAGES) -> bool:
    return call.algorithm.name not in _QUADRATIC or call.ranks**2 <= most


def backtest_document(found: pl.DataFrame) -> Document:
    """The rows of `backtest` by factor and method."""
    bucketed = found.with_columns(
        bucket=pl.col("factor").map_elements(lambda factor: next(at for at in BUCKETS if factor <= at), pl.Float64)
    )
    entries = []
    for (bucket, method), part in sorted(
        bucketed.group_by("bucket", "method"), key=lambda each: (each[0][0], METHODS.index(str(each[0][1])))
    ):
        errors, regrets, losses = (part[name].drop_nulls().to_numpy() for name in ("error", "regret", "loss"))
        entries.append(
            (
                f"up to {bucket:.0f}" if bucket < inf else f"over {BUCKETS[-2]:.0f}",
                _MEANINGS[str(method)],
                len(regrets),
                _share(regrets),
                _share(losses > _SLOWER),
                len(errors),
                *(_share(np.exp(np.quantile(errors, level)) - 1 if len(errors) else errors) for level in (0.5, 0.9)),
            )
        )
    columns = (
        "times the known scale",
        "method",
        "choices",
        "mean regret",
        f"over {_SLOWER - 1:.0%} slower than the default",
        "times",
        "median error",
        "nine in ten below",
    )
    series, pairs = found["series"].n_unique(), found.select("series", "known", "hidden").n_unique()
    basis = f"{counted(pairs, 'pair')} of a known and a larger, hidden scale, in {series} series"
    return Document(
        "Predictions, where the truth was hidden",
        (
            Sentence("basis", basis),
            Table("backtest", columns, rows(entries)),
        ),
    )


def _share(values: NDArray[Any]) -> Value:
    """Their mean."""
    return Value(float(np.mean(values)), show=lambda share: f"{share:.1%}") if np.size(values) else MISSING
