"""Regret of a table at rank counts that it wasn't made from, on a simulated machine of two nodes of 128 cores.

A rule applies to measured rank counts only. This benchmark shows what rules for other rank counts would gain or lose.
At each rank count it compares the default, and the choices of the tables of MADE_FROM if their rules apply to all
ranks, with the best algorithm. Simulated times don't vary, so the interval is that of drawing calls.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.common.command import timpani
from timpani.campaign.folder.load import Campaign
from timpani.judge.points import launch_medians
from timpani.study.cell import Algorithm
from timpani.study.selection import Call, SelectionTable
from timpani.tune.from_campaign import load_together, table_of

MACHINE = "simgrid:two-nodes-of-128"
MADE_FROM = (64, 256)
TEST_RANKS = (96, 128)
SIZES = "1Ki,16Ki,256Ki"
ALGORITHMS = {
    "bcast": "binomial knomial scatter_allgather circulant two_level two_level_chain full_lane",
    "reduce": "binomial knomial rabenseifner two_level two_level_chain full_lane",
    "allreduce": "recursive_doubling recursive_multiplying rabenseifner reduce_bcast two_level full_lane",
}
"""Timpani's algorithms that send few messages at a time: SimGrid takes many times as long over thousands."""

MAX_RANKS = {"full_lane": 128}
"""Of 256 ranks it had not simulated one broadcast of 16 KiB after 200 s, where the others take 3 s."""

_RESAMPLES = 2000


def run() -> None:
    with tempfile.TemporaryDirectory() as folder:
        print_regrets(Path(folder))


def print_regrets(folder: Path) -> None:
    """Measure what is missing in `folder`, a campaign for each rank count and collective, and print the regrets."""
    folders = {
        ranks: [_measured(ranks, collective, folder / f"{ranks}-{collective}") for collective in ALGORITHMS]
        for ranks in (*MADE_FROM, *TEST_RANKS)
    }
    campaigns = {ranks: load_together(of) for ranks, of in folders.items()}
    tables = {ranks: table_of(campaigns[ranks], folders[ranks]) for ranks in MADE_FROM}
    for ranks, campaign in campaigns.items():
        print(f"{ranks} ranks on 2 nodes, simulated:")
        for made_from, table in tables.items():
            regrets = np.array(list(_regrets(campaign, table, made_from)))
            print(f"  table of {made_from} ranks ({len(table.rules)} rules): {_mean(regrets)}")
        print(f"  the default: {_mean(np.array(list(_regrets(campaign, None, 0))))}")


def _measured(ranks: int, collective: str, folder: Path) -> Path:
    """The folder, with its campaign measured."""
    algorithms = [name for name in ALGORITHMS[collective].split() if ranks <= MAX_RANKS.get(name, ranks)]
    names = ",".join(f"timpani/{name}" for name in algorithms)
    asked = ("--algorithms", f"default,{names}", "--sizes", SIZES)
    where = ("--ranks", str(ranks), "--placement", f"ppr:{ranks // 2}", "--on", MACHINE)
    timpani("run", collective, *asked, *where, "-o", str(folder))
    return folder


def _regrets(campaign: Campaign, table: SelectionTable | None, made_from: int) -> Iterator[float]:
    """Of each call that was simulated: the chosen algorithm's time over the least, less 1."""
    medians = launch_medians(campaign.results)
    for (collective, size), rows in medians.group_by("collective", "message_bytes", maintain_order=True):
        times = {(row["provider"], row["algorithm"]): row["time_us"] for row in rows.iter_rows(named=True)}
        call = Call(str(collective), made_from, 2, made_from // 2, int(str(size)))
        chosen = table.decide(call) if table else None
        yield _time(times, chosen, campaign) / min(times.values()) - 1


def _time(times: dict[tuple[str, str], float], chosen: Algorithm | None, campaign: Campaign) -> float:
    """The choice's time; the default's without a choice, or if the choice doesn't run on that many ranks."""
    default = times[campaign.header.mpi.kind, "default"]
    return times.get((chosen.provider, chosen.name), default) if chosen else default


def _mean(regrets: NDArray[np.float64]) -> str:
    drawn = np.random.default_rng(1).choice(regrets, (_RESAMPLES, len(regrets))).mean(axis=1)
    low, high = np.quantile(drawn, (0.025, 0.975))
    most = f"at most {regrets.max():.0%}, {len(regrets)} calls"
    return f"mean regret {regrets.mean():.1%} ({low:.1%} to {high:.1%}), {most}"
