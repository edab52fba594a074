"""Tests whether one algorithm is faster than another.

Where several jobs measured both, the replicate is the job (`stats/jobs.py`). Within one job it is the launch:
interleaved measurements are compared launch by launch, and variants block by block, by Wilcoxon's signed-rank test of
the log ratios: a disturbance of a launch cancels in the ratio. Measurements in separate launches are compared by launch
medians, with the rank-sum test. Two algorithms differ if, after Holm's correction over the family, the test is
significant and the interval of the time ratio, at the level that Holm tested, lies wholly outside the indifferent. A
family is all comparisons with one reference at one (collective, ranks, placement, message_bytes, mode, machine).

If a machine has several states, launches are compared within each state, a stratum. Rank sums are added over strata;
their null distribution is the convolution of the strata's. So different shares of states don't matter. The ratio is the
median over all pairs of launches of one stratum.

With n launches on each side the p-value of the rank-sum test is at least 2 / C(2n, n). With 5 launches that is 0.0079:
none of seven algorithms can differ significantly from the default. That of the signed-rank test is at least 2 / 2ⁿ: of
seven algorithms none can differ with 8 launches, all can with 9. `launches_needed` gives the minimum.

Sources: Hunold & Carpen-Amarie, TPDS 2016; Hoefler & Belli, SC'15; Hodges & Lehmann, Ann. Math. Stat. 1963; Holm,
Scand. J. Stat. 1979; strata: van Elteren, Bull. Int. Stat. Inst. 1960, with equal weights, which keep the null
distribution countable.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache, reduce
from math import comb, prod, sqrt
from statistics import NormalDist
from typing import Literal, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from timpani.stats.jobs import JobEvidence, JobRatios
from timpani.stats.ratios import MAX_LISTED, ROUNDING, Floats, LargeRatios, Ratios, large_pairs, large_strata


def compare_pairs(log_ratios: Floats, slopes: Floats | None = None) -> Ratios | LargeRatios:
    """Ratios first / second in the same launches, compared row by row: by the exact test, or by its normal limit if
    launches are many.

    log_ratios    natural logarithms, shape (pairs, launches), at least one launch
    slopes        by how much each moves if the true log ratio moves by 1, the same shape; None: by 1
                  (`stats/states.py`)
    """
    launches = log_ratios.shape[1]
    slopes = np.ones_like(log_ratios) if slopes is None else slopes
    if launches * (launches + 1) // 2 > MAX_LISTED:
        return large_pairs(log_ratios, slopes)
    first, second = np.triu_indices(launches)
    sums = log_ratios[:, first] + log_ratios[:, second]
    averages = np.sort(sums / (slopes[:, first] + slopes[:, second]), axis=1)
    above = (averages > 0).sum(axis=1) + (averages == 0).sum(axis=1) / 2  # averages of 0 count half on either side
    smaller = np.floor(np.minimum(above, averages.shape[1] - above)).astype(np.int64)
    probability = signed_rank_distribution(launches)
    return Ratios(averages, probability, np.minimum(1.0, 2 * probability[smaller]))


@lru_cache(maxsize=256)
def signed_rank_distribution(launches: int) -> Floats:
    """P(W ≤ w) of the signed-rank sum of n launches, each equally likely above and below 0, for w = 0 … n (n + 1) / 2.

    Counted over all signs. A double holds the counts exactly up to 53 launches, and to twelve digits beyond.
    """
    ways = np.zeros(launches * (launches + 1) // 2 + 1)
    ways[0] = 1
    for rank in range(1, launches + 1):
        ways[rank:] += ways[:-rank].copy()
    cumulative: Floats = np.cumsum(ways / 2.0**launches)
    return cumulative


ALPHA = 0.05


@dataclass(frozen=True)
class Margins:
    """What counts as a difference and what is good enough, as shares of a time; docs/methodology.md gives the reasons.

    indifference  ratios of times within 1 ± this are practically equal
    equivalence   the default is good enough if it is shown to take at most this much longer than any other algorithm
    """

    indifference: float = 0.03
    equivalence: float = 0.05

    @property
    def indifferent(self) -> tuple[float, float]:
        """The ratios between which two times are practically equal."""
        return 1 - self.indifference, 1 + self.indifference

    def __str__(self) -> str:
        return "{:g} to {:g}".format(*self.indifferent)

    @property
    def options(self) -> str:
        """How a command line gives them; empty if they are the standard ones."""
        given = asdict(self).items() - asdict(STANDARD).items()
        return "".join(f" --{name} {100 * share:g}%" for name, share in sorted(given))


STANDARD = Margins()
INDIFFERENCE = STANDARD.indifferent
"""Ratios of times within these bounds are practically equal."""

MAX_EXACT_LAUNCHES = 50
"""Maximum of launches, of both sides together, for the exact null distribution; above, its normal limit is used."""

Sizes = tuple[tuple[int, int], ...]


def compare(*strata: tuple[Floats, Floats]) -> Ratios | LargeRatios:
    """Compare row by row in each stratum: `first`, shape (pairs, n), with `second`, shape (pairs, m); all values > 0.

    The p-value is exact, including ties (midranks, conditional on the ties), up to MAX_EXACT_LAUNCHES launches of a
    stratum.
    """
    if sum(first.shape[1] * second.shape[1] for first, second in strata) > MAX_LISTED:
        return large_strata(strata)
    pairs = len(strata[0][0])
    ratios: list[Floats] = []
    new_values: list[NDArray[np.bool_]] = []
    doubled_u = np.zeros(pairs, dtype=np.int64)
    for first, second in strata:
        ratios.append((np.log(first)[:, :, None] - np.log(second)[:, None, :]).reshape(pairs, -1))
        # Twice the Mann–Whitney U: a first value above a second one counts 2, a tie 1.
        larger, equal = (op(first[:, :, None], second[:, None, :]).sum(axis=(1, 2)) for op in (np.greater, np.equal))
        doubled_u += 2 * larger + equal
        pooled = np.sort(np.concatenate([first, second], axis=1), axis=1)
        new_values.append(np.concatenate([np.ones((pairs, 1), dtype=bool), pooled[:, 1:] != pooled[:, :-1]], axis=1))
    sizes = tuple((first.shape[1], second.shape[1]) for first, second in strata)
    ends = np.cumsum([n + m for n, m in sizes])
    patterns, pattern_of = np.unique(np.concatenate(new_values, axis=1), axis=0, return_inverse=True)
    p_value = np.empty(pairs)
    for index, pattern in enumerate(patterns):
        ties = (_ties(part) for part in np.split(pattern, ends[:-1]))
        null = stratified_null(tuple((n, tied) for (n, _), tied in zip(sizes, ties, strict=True)))
        rows = pattern_of.reshape(-1) == index
        u = doubled_u[rows]
        p_value[rows] = np.minimum(2 * np.minimum(null.lower[u], null.upper[u]), 1.0)
    without_ties = stratified_null(tuple((n, (1,) * (n + m)) for n, m in sizes))
    return Ratios(np.sort(np.concatenate(ratios, axis=1), axis=1), without_ties.lower[::2], p_value)


def _ties(new_value: NDArray[np.bool_]) -> tuple[int, ...]:
    """Sizes of the groups of equal values."""
    return tuple(np.diff(np.flatnonzero(np.append(new_value, True))).tolist())


@dataclass(frozen=True)
class NullDistribution:
    """Of twice the Mann–Whitney U under the null hypothesis: lower[u] = P(2U ≤ u), upper[u] = P(2U ≥ u)."""

    lower: Floats
    upper: Floats


@lru_cache(maxsize=4096)
def stratified_null(strata: tuple[tuple[int, tuple[int, ...]], ...]) -> NullDistribution:
    """The distribution of the sum of twice the Mann–Whitney U over strata of n first values and these ties."""
    if len(strata) == 1:
        return null_distribution(*strata[0])
    mass = reduce(np.convolve, (_mass(n, ties) for n, ties in strata))
    return NullDistribution(np.cumsum(mass), np.cumsum(mass[::-1])[::-1])


def _mass(n: int, ties: tuple[int, ...]) -> Floats:
    """Probability of each value of twice the Mann–Whitney U."""
    lower = null_distribution(n, ties).lower
    if len(ties) == 1:  # all values are equal
        return np.where(np.arange(len(lower)) == n * (ties[0] - n), 1.0, 0.0)
    return np.diff(lower, prepend=0.0)


@lru_cache(maxsize=4096)
def null_distribution(n: int, ties: tuple[int, ...]) -> NullDistribution:
    """The distribution for n values on the first side when the pooled values, ascending, tie in groups of `ties`.

    Counted over all ways to choose the first side's values; with more than MAX_EXACT_LAUNCHES values, from the normal
    limit with correction for ties and continuity.
    """
    total = sum(ties)
    if total > MAX_EXACT_LAUNCHES:
        return _normal_limit(n, ties)
    # ways[k, s]: choices of k values with doubled midranks adding up to s. A double holds these counts exactly.
    largest_sum = 2 * n * total
    ways = np.zeros((n + 1, largest_sum + 1))
    ways[0, 0] = 1
    smaller = 0
    for size in ties:
        doubled_midrank = 2 * smaller + size + 1
        for _ in range(size):
            ways[1:, doubled_midrank:] += ways[:-1, : largest_sum + 1 - doubled_midrank]
        smaller += size
    smallest_sum = n * (n + 1)
    share = ways[n, smallest_sum : smallest_sum + 2 * n * (total - n) + 1] / comb(total, n)
    return NullDistribution(np.cumsum(share), np.cumsum(share[::-1])[::-1])


def _normal_limit(n: int, ties: tuple[int, ...]) -> NullDistribution:
    total = sum(ties)
    m = total - n
    tied = sum(size**3 - size for size in ties) / (total * (total - 1))
    deviation = sqrt(n * m / 12 * (total + 1 - tied))
    doubled_u = range(2 * n * m + 1)
    if deviation == 0.0:
        return NullDistribution(np.ones(len(doubled_u)), np.ones(len(doubled_u)))
    below = NormalDist(n * m / 2, deviation).cdf
    lower = np.array([below(u / 2 + 0.5) for u in doubled_u])
    return NullDistribution(lower, lower[::-1])


def holm(p_values: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """Holm's step-down over one family, shape (comparisons,): adjusted p-values, and the divisor of alpha at each step.

    Equal p-values form one step, so their order doesn't matter: p is significant at alpha if the adjusted p is at most
    alpha, and alpha / divisor is the level of that step.
    """
    ascending = np.sort(p_values)
    divisor = len(p_values) - np.searchsorted(ascending, p_values, side="left")
    ordered = np.argsort(p_values, kind="stable")
    adjusted = np.empty(len(p_values))
    adjusted[ordered] = np.maximum.accumulate(np.minimum(p_values * divisor, 1.0)[ordered])
    return adjusted, divisor


def launches_needed(competitors: int, interleaved: bool) -> int:
    """Minimum of launches per algorithm to compare one algorithm with `competitors` others.

    Enough for a median's interval at 1 − ALPHA: the extremes of n medians cover it with probability 1 − 2 · ½ⁿ. Also
    enough for each comparison to be significant after Holm's correction. Interleaved algorithms are compared by the
    signed-rank test, whose smallest p-value is 2 · ½ⁿ, others by the rank-sum test. Small differences need more.
    """

    def smallest(launches: int) -> float:
        return 2 / 2**launches if interleaved else min_p_value(((launches, launches),))

    launches = 1
    while 2 / 2**launches > ALPHA or smallest(launches) > ALPHA / max(competitors, 1):
        launches += 1
    return launches


def min_p_value(sizes: Sizes) -> float:
    """Smallest possible p-value: in each stratum all launches of one side are faster than all of the other."""
    return min(1.0, 2 / prod(comb(first + second, first) for first, second in sizes))


Stratum = tuple[Sequence[float], Sequence[float]]


@dataclass(frozen=True)
class Samples:
    """The measurements of two algorithms.

    strata    launch medians of the reference and of the other, above 0, for each state of the machine; neither side of
              a stratum is empty
    paired    reference / other in each launch that interleaved both, or in each block; if there are any, only these
              are compared
    slopes    of the logarithms of `paired` (`compare_pairs`); none: all are 1
    jobs      what several jobs say; then only this is compared
    """

    strata: tuple[Stratum, ...]
    paired: Sequence[float] = ()
    slopes: Sequence[float] = ()
    jobs: JobEvidence | None = None

    @classmethod
    def from_times(cls, reference: Sequence[float], other: Sequence[float], paired: Sequence[float] = ()) -> Self:
        """Launches of a machine with one state."""
        return cls(((reference, other),), paired)


@dataclass(frozen=True)
class Comparisons:
    """Comparisons of references with others, all of shape (pairs,). ratio = reference / other.

    low, high     95 % interval of the ratio, 0 and infinity with too few launches
    p_value       without correction
    significant   by this module's rule, within the pair's family
    another_low, another_high  95 % interval of the ratio in one more job, 0 and infinity for a single job
    """

    ratio: Floats
    low: Floats
    high: Floats
    p_value: Floats
    significant: NDArray[np.bool_]
    another_low: Floats
    another_high: Floats


Found = Ratios | LargeRatios | JobRatios


def _stratum(samples: Sequence[Samples], members: list[int], number: int) -> tuple[Floats, Floats]:
    first, second = (np.array([samples[i].strata[number][side] for i in members]) for side in (0, 1))
    return first, second


def compare_families(
    samples: Sequence[Samples], family: NDArray[np.int64], indifferent: tuple[float, float] = INDIFFERENCE
) -> Comparisons:
    """Compare the two sides of each of `samples`; pairs with equal `family` are corrected together."""
    pairs = len(samples)
    ratio, low, high, p_value = (np.empty(pairs) for _ in range(4))
    another_low, another_high = np.zeros(pairs), np.full(pairs, np.inf)
    compared: list[tuple[NDArray[np.int64], Found]] = []
    for rows, found in _groups(samples):
        compared.append((rows, found))
        ratio[rows], p_value[rows] = found.ratio, found.p_value
        low[rows], high[rows] = found.interval(ALPHA)
        if isinstance(found, JobRatios):
            another_low[rows], another_high[rows] = found.in_another_job(ALPHA)

    adjusted, divisor = np.empty(pairs), np.empty(pairs)
    by_family = np.argsort(family, kind="stable")
    borders = np.flatnonzero(np.diff(family[by_family])) + 1
    for members_of_one in np.split(by_family, borders):
        adjusted[members_of_one], divisor[members_of_one] = holm(p_value[members_of_one])

    outside = np.empty(pairs, dtype=np.bool_)
    for rows, found in compared:
        tested_low, tested_high = found.interval(ALPHA / divisor[rows])
        outside[rows] = (tested_high < indifferent[0]) | (tested_low > indifferent[1])
    significant = outside & (adjusted <= ALPHA + ROUNDING)
    return Comparisons(ratio, low, high, p_value, significant, another_low, another_high)


def _groups(samples: Sequence[Samples]) -> Iterator[tuple[NDArray[np.int64], Found]]:
    """The ratios of all samples, together where one test compares them: those with several jobs, and equal sizes."""
    groups: dict[int | Sizes | None, list[int]] = defaultdict(list)
    for index, each in enumerate(samples):
        sizes = tuple((len(first), len(second)) for first, second in each.strata)
        groups[None if each.jobs else len(each.paired) or sizes].append(index)
    for size, members in groups.items():
        rows = np.array(members)
        if size is None:
            yield rows, JobRatios.moderated(evidence for i in members if (evidence := samples[i].jobs))
        elif isinstance(size, int):
            slopes = np.array([samples[i].slopes or [1.0] * size for i in members])
            yield rows, compare_pairs(np.log([samples[i].paired for i in members]), slopes)
        else:
            yield rows, compare(*(_stratum(samples, members, number) for number in range(len(size))))


Standing = Literal["faster", "slower", "tie", "undecided"]

Competitor = TypeVar("Competitor")


@dataclass(frozen=True)
class BlockComparison:
    """The second competitor compared with the first.

    ratio      time of the first / time of the second: over 1 where the second is faster
    low, high  its interval at 1 − ALPHA; 0 and infinity where blocks are too few for one
    p_value    of the two-sided test that the ratio is 1
    """

    ratio: float
    low: float
    high: float
    p_value: float
    blocks: int

    @property
    def standing(self) -> Standing:
        """Of the second competitor: undecided without an interval, else a tie unless the interval excludes 1."""
        if self.low == 0:
            return "undecided"
        if self.low > 1:
            return "faster"
        return "slower" if self.high < 1 else "tie"


def compare_blocks(first: Sequence[float], second: Sequence[float], min_blocks: int = 1) -> BlockComparison:
    """Compare times of the same blocks, all over 0; ValueError where these differ in number, or are empty.

    With less than `min_blocks` there is no interval.
    """
    if len(first) != len(second) or not first:
        raise ValueError("each block has a time of both")
    pairs = compare_pairs(np.log(np.asarray([first], dtype=float)) - np.log(np.asarray([second], dtype=float)))
    low, high = pairs.interval(ALPHA if len(first) >= min_blocks else 0.0)
    return BlockComparison(
        ratio=float(pairs.ratio[0]),
        low=float(low[0]),
        high=float(high[0]),
        p_value=float(pairs.p_value[0]),
        blocks=len(first),
    )


def block_order(competitors: Sequence[Competitor], block: int, seed: int) -> list[Competitor]:
    """The competitors in the random order of one block: the same whenever it is asked for."""
    return [competitors[index] for index in np.random.default_rng([seed, block]).permutation(len(competitors))]
