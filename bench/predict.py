"""How true `timpani predict` is on clusters that SimGrid simulates: shipped platforms, and trees drawn at random.

On each, costs are calibrated with calls of at most 32 ranks, placed by node and by core, and calls of more ranks are
predicted; SimGrid says what these take. Its messages share links by max-min fairness, of which the clock knows the
equal shares, and senders of small ones go on at once.
"""

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl
from scipy.stats import kendalltau  # type: ignore[import-untyped]

from bench.command import timpani
from bench.random_platforms import draw
from timpani.campaign.load import load
from timpani.libraries.find import choose_mpi
from timpani.native.build import build
from timpani.prediction.calibrate import Observation, amounts_of, estimate, solve
from timpani.prediction.calibration import Calibration, from_calls
from timpani.prediction.model_error import size_of
from timpani.prediction.observed import observations
from timpani.prediction.predictions import Predicted, predict
from timpani.prediction.terms import Term, terms, vector, with_vector
from timpani.schedules.simulation import Costs, Simulator

SHIPPED = ("four-groups-of-4", "two-nodes-of-128")
RANDOM, SEED = 1, 19
CALIBRATED, PREDICTED = "4,8,16,32", "64"
PLACEMENTS = ("node", "core")
LARGE, BLOCKS = "8,512,8Ki,128Ki,1Mi", "8,512,8Ki"
ALGORITHMS = {
    "bcast": ("linear binomial binary pipeline scatter_allgather two_level", LARGE),
    "reduce": ("binomial pipeline rabenseifner", LARGE),
    "allreduce": ("ring recursive_doubling rabenseifner two_level", LARGE),
    "gather": ("linear binomial", f"{BLOCKS},64Ki"),
    "allgather": ("ring bruck", BLOCKS),
}
"""Those of which SimGrid simulates 64 ranks in seconds."""

ERROR_MUST_BE, COVERAGE_MUST_BE, REGRET_MUST_BE = 0.05, (0.93, 0.97), 0.03
_NOTHING_SHARED = (0.0, 0.0, 0.0)
_POINT = ("machine", "placement", "collective", "ranks", "message_bytes")


@dataclass(frozen=True)
class Known:
    """What was simulated of a machine: to calibrate with, and to be predicted by placement."""

    measured: list[Observation]
    truth: dict[str, list[Observation]]


def run() -> None:
    with tempfile.TemporaryDirectory() as folder:
        told(Path(folder))


def told(folder: Path) -> None:
    """Simulate what is missing in `folder`, campaigns of each machine, and print how true predictions are."""
    simulator = Simulator(build(choose_mpi(None)))
    full: list[pl.DataFrame] = []
    ablated: dict[str, list[pl.DataFrame]] = {}
    for name, platform in _machines(folder):
        known = _known(folder / name, platform)
        calibration = from_calls(simulator, known.measured, None, simulated=True)
        full.append(_predicted(simulator, calibration, known, name))
        print(f"{name}: {calibration}", flush=True)
        costs = calibration.costs
        without = {
            "sharing": _anew(simulator, calibration, replace(costs, shared=_NOTHING_SHARED)),
            "eager messages": _anew(simulator, calibration, replace(costs, eager_below=0)),
            "both": _anew(simulator, calibration, replace(costs, shared=_NOTHING_SHARED, eager_below=0)),
            "fair shares": _anew(simulator, calibration, replace(costs, fair=False)),
            "the rest": _without_rest(simulator, calibration),
        }
        for what, other in without.items():
            ablated.setdefault(what, []).append(_predicted(simulator, other, known, name))
    rows = pl.concat(full)
    print(_table(rows))
    for what, frames in ablated.items():
        print(f"without {what} (intervals of the whole model): {_summary(pl.concat(frames))}")
    print(
        f"must be: error at most {ERROR_MUST_BE:.0%}, coverage {COVERAGE_MUST_BE[0]:.0%} to {COVERAGE_MUST_BE[1]:.0%}, "
        f"regret at most {REGRET_MUST_BE:.0%}"
    )


def _machines(folder: Path) -> Iterator[tuple[str, str]]:
    yield from ((name, name) for name in SHIPPED)
    generator = np.random.default_rng(SEED)
    for number in range(RANDOM):
        tree = draw(generator)
        platform = folder / f"random-{number}.xml"
        platform.write_text(tree.platform)
        print(f"{platform.stem}: {tree}")
        yield platform.stem, str(platform)


def _known(folder: Path, platform: str) -> Known:
    measured: list[Observation] = []
    truth: dict[str, list[Observation]] = {}
    for placement in PLACEMENTS:
        for collective in ALGORITHMS:
            for ranks in (CALIBRATED, PREDICTED):
                kind = "measured" if ranks == CALIBRATED else "truth"
                campaign = folder / f"{placement}-{kind}-{collective}"
                found = observations(load(_simulated(campaign, platform, placement, collective, ranks)))
                (measured if ranks == CALIBRATED else truth.setdefault(placement, [])).extend(found)
    return Known(measured, truth)


def _simulated(campaign: Path, platform: str, placement: str, collective: str, ranks: str) -> Path:
    """The folder, with its campaign."""
    algorithms, sizes = ALGORITHMS[collective]
    names = ",".join(f"timpani/{name}" for name in algorithms.split())
    if not (campaign / "results.jsonl").exists():
        where = ("--ranks", ranks, "--placement", placement, "--on", f"simgrid:{platform}")
        timpani("run", collective, "--algorithms", names, "--sizes", sizes, *where, "-o", str(campaign))
    return campaign


def _predicted(simulator: Simulator, calibration: Calibration, known: Known, machine: str) -> pl.DataFrame:
    """Columns _POINT's, `algorithm`, `time_us`, `predicted_us`, `low_us`, `high_us`."""
    rows = [
        {
            **dict(zip(_POINT, (machine, placement, call.collective, call.ranks, size_of(call)), strict=True)),
            "algorithm": call.algorithm.plain,
            "time_us": each.time,
            "predicted_us": told.time,
            "low_us": told.low,
            "high_us": told.high,
        }
        for placement, truth in known.truth.items()
        for call, each, told in zip(
            [each.call for each in truth],
            truth,
            predict(simulator, calibration, [each.call for each in truth]),
            strict=True,
        )
        if isinstance(told, Predicted)
    ]
    return pl.DataFrame(rows)


def _anew(simulator: Simulator, calibration: Calibration, start: Costs) -> Calibration:
    """The costs that are found from `start`, in which what has no cost to begin with keeps none."""
    found = estimate(simulator, calibration.observations, start)
    return replace(calibration, costs=found.costs, paid=np.full(len(calibration.paid), True))


def _without_rest(simulator: Simulator, calibration: Calibration) -> Calibration:
    """The costs that are found along the same paths where a call from rest costs nothing of its own."""
    costs = replace(calibration.costs, rest=0.0)
    calls = [each.call for each in calibration.observations]
    times = np.array([each.time for each in calibration.observations])
    amounts = amounts_of(simulator, calls, costs)
    amounts[:, terms(costs).index(Term("rest"))] = 0
    return replace(calibration, costs=with_vector(costs, solve(amounts, times, vector(costs), times)))


def _table(rows: pl.DataFrame) -> str:
    by = ("collective", "message_bytes", "machine", "placement")
    parts = [
        (f"{column} {value}", part)
        for column in by
        for (value,), part in rows.sort("message_bytes").group_by(column, maintain_order=True)
    ]
    return "\n".join(f"{name}: {_summary(part)}" for name, part in (*parts, ("all", rows)))


def _summary(rows: pl.DataFrame) -> str:
    off = np.abs(np.log((rows["predicted_us"] / rows["time_us"]).to_numpy()))
    covered = ((rows["low_us"] <= rows["time_us"]) & (rows["time_us"] <= rows["high_us"])).to_numpy()
    width = np.sqrt((rows["high_us"] / rows["low_us"]).to_numpy())
    points = [part for _, part in rows.group_by(_POINT, maintain_order=True) if part.height > 1]
    tau = np.nanmean([kendalltau(part["time_us"], part["predicted_us"]).statistic for part in points])
    regrets = np.array([_regret(part) for part in points])
    return (
        f"{rows.height} cells, median error {np.median(off):.1%}, nine of ten within {np.quantile(off, 0.9):.0%}, "
        f"coverage {covered.mean():.1%} (median interval ×÷ {np.median(width):.2f}), Kendall tau {tau:.2f}, regret "
        f"mean {regrets.mean():.1%}, median {np.median(regrets):.1%}, worst {regrets.max():.0%} of {len(points)} points"
    )


def _regret(point: pl.DataFrame) -> float:
    """How much longer the choice of the prediction takes than the fastest."""
    chosen = point.sort("predicted_us").row(0, named=True)["time_us"]
    fastest = point.sort("time_us").row(0, named=True)["time_us"]
    return float(chosen / fastest) - 1
