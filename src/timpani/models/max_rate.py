"""The max-rate model: k senders of a node share its rate. Time of a message = α + k·m / min(R_N, k·R_C).

Source: W. Gropp, L. N. Olson, P. Samfass: Modeling MPI Communication Performance on SMP Nodes, EuroMPI 2016.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.optimize import minimize_scalar  # type: ignore[import-untyped]

from timpani.models.curve import Variance
from timpani.models.line import Array, estimator
from timpani.stats.interval import Estimate, mean_estimate

_PARAMETERS = 3
_SIGNIFICANCE = 0.01  # probability of finding a node's rate where there is no limit


@dataclass(frozen=True)
class MaxRate:
    """Parameters of the max-rate model.

    latency    α, microseconds
    core_rate  R_C of one sender, MB/s (10⁶ bytes)
    node_rate  R_N of all senders of a node, MB/s; None if the measured senders didn't reach it
    senders    largest measured k
    """

    latency: Estimate
    core_rate: Estimate
    node_rate: Estimate | None
    senders: int


@dataclass(frozen=True)
class _Messages:
    """Cells of one launch, each of shape (cells,). load: senders / largest number of senders; sizes: bytes; times:
    µs."""

    load: Array
    sizes: Array
    times: Array


@dataclass(frozen=True)
class _LoadFit:
    """The model in which the node's rate limits loads above `share`. squares: sum of squared relative errors."""

    share: float
    latency: float
    per_byte: float
    squares: float


def max_rate(senders: Array, sizes: Array, times: Array) -> MaxRate:
    """Fit the model to messages of `sizes` bytes from `senders` concurrent senders, both of shape (cells,).

    times  microseconds of each sender's message, shape (launches, cells)
    """
    most = float(senders.max())
    load = senders / most
    reached = _has_node_limit(_Messages(load, sizes, times.mean(axis=0)))
    launches = [_Messages(load, sizes, launch) for launch in times]
    found = [_best_fit(launch) if reached else _fit(launch, 1.0) for launch in launches]
    return MaxRate(
        latency=mean_estimate(np.array([each.latency for each in found])),
        core_rate=mean_estimate(np.array([1 / each.per_byte for each in found])),
        node_rate=mean_estimate(np.array([each.share * most / each.per_byte for each in found])) if reached else None,
        senders=int(most),
    )


def _fit(messages: _Messages, share: float) -> _LoadFit:
    """Least-squares fit at a given share, for which the model is linear."""
    waited = messages.sizes * np.maximum(messages.load / share, 1.0)
    line = estimator(waited, 1 / messages.times**2)
    latency, per_byte = float(line.intercept @ messages.times), float(line.slope @ messages.times)
    errors = (latency + per_byte * waited) / messages.times - 1
    return _LoadFit(share, latency, per_byte, float((errors**2).sum()))


def _best_fit(messages: _Messages) -> _LoadFit:
    """Fit with the best share. The sum of squares is smooth in the share between measured loads; minimized there."""
    fitted = [_fit(messages, 1.0)]
    for bounds in pairwise(np.unique(messages.load)):
        found = minimize_scalar(lambda share: _fit(messages, share).squares, bounds=bounds, method="bounded")
        fitted.append(_fit(messages, float(found.x)))
    return min(fitted, key=lambda each: each.squares)


def _has_node_limit(messages: _Messages) -> bool:
    """Whether a limit by the node's rate improves the fit significantly: an F test."""
    without, within = _fit(messages, 1.0).squares, _best_fit(messages).squares
    degrees = len(messages.times) - _PARAMETERS
    if degrees < 1:
        return False
    return Variance(within / degrees, degrees).p_value(without - within, 1) < _SIGNIFICANCE
