"""Is a slowdown of 5 % of a real library found, and the same library under another name not?

Each campaign has three variants: `default`, `again` with a preloaded library that delays nothing, and `slow` with the
same library delaying every allreduce on every rank by 5 % of its median time, which a first campaign measures.
`TIMPANI_PLANTED_ON=lab python -m bench planted_slowdown` plants it between two nodes of a lab. A lab's link makes up
for a pause, so there the library sends 5 % more bytes instead.
"""

import os
import subprocess
import tempfile
from pathlib import Path

import polars as pl

from bench.common.command import cells, timpani
from bench.variants import BLOCKS, LEVEL_WANTED, POWER_WANTED, SLOWDOWN, summarize
from timpani.campaign.folder.load import load
from timpani.judge.decide import compare_with_default
from timpani.judge.raced import raced_results

CAMPAIGNS = 24
SIZE = "64Ki"
ON = "TIMPANI_PLANTED_ON"

DELAY = """\
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static long now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000L + time.tv_nsec;
}

int MPI_Allreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm communicator)
{
    static long delay_ns = -1, more_percent = 0;
    if (delay_ns < 0) {
        delay_ns = atol(getenv("PLANTED_DELAY_NS"));
        more_percent = atol(getenv("PLANTED_MORE_PERCENT"));
    }
    for (const long end = now() + delay_ns; now() < end;)
        ;
    const int sent = count + count * more_percent / 100;
    if (sent == count)
        return PMPI_Allreduce(send, receive, count, type, op, communicator);
    int size;
    MPI_Type_size(type, &size);
    char *const from = calloc(sent, size), *const to = malloc((size_t)sent * size);
    memcpy(from, send == MPI_IN_PLACE ? receive : send, (size_t)count * size);
    const int error = PMPI_Allreduce(from, to, sent, type, op, communicator);
    memcpy(receive, to, (size_t)count * size);
    free(from), free(to);
    return error;
}
"""


def run() -> None:
    """Print how many campaigns call the planted delay and the empty one significant."""
    machine = os.environ.get(ON)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        library = _compile(folder)
        measured = ["run", "allreduce", "--ranks", "2", "--sizes", SIZE, "--algorithms", "default"]
        measured += ["--launches", str(BLOCKS)]
        if machine:
            measured += ["--on", machine, "--placement", "node"]
        timpani(*measured, "-o", str(folder / "plain"))
        median_us = cells(folder / "plain")["median_us"].item()
        delay_ns = round(1000 * median_us * (SLOWDOWN - 1))
        what = f"{SLOWDOWN - 1:.0%} more bytes" if machine else f"{delay_ns} ns"
        print(f"allreduce of {SIZE} takes {median_us:.1f} µs; planted: {what}", flush=True)
        planted = (0, round(100 * (SLOWDOWN - 1))) if machine else (delay_ns, 0)
        for variant, (delay, more) in {"again": (0, 0), "slow": planted}.items():
            settings = f"PLANTED_DELAY_NS={delay} PLANTED_MORE_PERCENT={more}"
            measured += ["--variant", f"{variant}: --preload {library} {settings}"]
        campaigns = []
        for number in range(CAMPAIGNS):
            timpani(*measured, "--seed", str(number), "-o", str(folder / str(number)))
            campaigns.append(compare_with_default(raced_results(load(folder / str(number)))))
    rows = pl.concat(campaigns)
    for variant, truth, wanted in (
        ("again", 1.0, f"at most {LEVEL_WANTED:.0%}"),
        ("slow", SLOWDOWN, f"at least {POWER_WANTED:.0%}"),
    ):
        found = summarize(rows.filter(pl.col("variant") == variant).iter_rows(named=True), truth)
        print(
            f"{variant:<8}significant in {found.significant:.0%} ({wanted}), by the test alone in {found.by_test:.0%}; "
            f"interval covers {truth} in {found.covered:.0%}; half-width {found.half_width:.1%}"
        )


def _compile(folder: Path) -> Path:
    source, library = folder / "delay.c", folder / "delay.so"
    source.write_text(DELAY)
    subprocess.run(["mpicc", "-O2", "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
    return library
