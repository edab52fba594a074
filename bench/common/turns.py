"""Interleaved cells, measured by special plans: competitors that are equal, or differ by a known amount.

`python -m bench pairs` asks whether equal things are found equal and a planted 5 % is found; `components` how
launches differ.
"""

import json
import os
import shutil
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from timpani.libraries.find import find_mpis
from timpani.libraries.library import LaunchRequest
from timpani.machine.launchers import command
from timpani.native.build import build
from timpani.native.mpi import Mpi
from timpani.native_sources import sources
from timpani.stats.compare import Samples, compare_families

ROOT = Path(__file__).parents[1]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Point:
    """Interleaved cells: the text of each after its number in a plan; `key` names the point."""

    key: Any
    cells: tuple[str, ...]


def launch(programs: Path, mpi: Mpi, points: Sequence[Point], seed: int) -> Iterator[tuple[Any, list[dict[str, Any]]]]:
    """Start the measuring program once; the key of each point with its cells' records, in the order of its cells."""
    with tempfile.TemporaryDirectory() as root:
        plan, record = Path(root) / "plan.txt", Path(root) / "record.jsonl"
        lines = ["timpani-plan 1", "start round_time", "precision 0.05", "slot_ns 7000000", f"seed {seed}", "probe"]
        owner: dict[int, int] = {}
        for number, point in enumerate(points):
            lines.append("point")
            for cell in point.cells:
                lines.append(f"cell {len(owner)} {cell}")
                owner[len(owner)] = number
        plan.write_text("\n".join([*lines, ""]))
        request = LaunchRequest(
            ranks=2,
            placement="core",
            oversubscribed=False,
            parameters=(("coll_tuned_use_dynamic_rules", "1"),),
            environment={},
            program=(str(programs / "timpani-measure"), str(plan), str(record)),
        )
        started = command(mpi, request)
        subprocess.run(started.argv, env={**os.environ, **started.environment}, check=True, capture_output=True)
        found: dict[int, list[dict[str, Any]]] = defaultdict(list)
        for line in map(json.loads, record.read_text().splitlines()):
            if "measured" in line:
                found[owner[line["cell"]]].append(line)
    for number, cells in sorted(found.items()):
        if not all(cell["relative"] for cell in cells):
            continue  # so busy a machine that no round had all competitors
        yield points[number].key, sorted(cells, key=lambda cell: int(cell["cell"]))


def open_mpi() -> Mpi:
    """The first Open MPI of this machine: its default can be had under many names."""
    return next(mpi for mpi in find_mpis() if mpi.kind == "openmpi")


def default_under(name: int, collective: str, size: int) -> str:
    """The default on a separate communicator, distinguished by a parameter that it ignores."""
    controls = f"coll_tuned_{collective}_algorithm=0,coll_tuned_{collective}_algorithm_tree_fanout={name + 4}"
    return f"{collective} {size} warm {controls} - -"


def delayed(folder: Path, mpi: Mpi, factor: float) -> Path:
    """The native programs with two more broadcasts of 1 KiB, `planted/plain` and `planted/slower`. The first lasts 1.5
    times its broadcast's time by the clock, the second `factor` times as long as the first."""
    shutil.copytree(sources(), folder, ignore=shutil.ignore_patterns("build"))
    (folder / "operations" / "planted_delay.cpp").write_text(_PLANTED.replace("FACTOR", str(factor)))
    return build(mpi, folder)


def judged(pairs: Sequence[Sequence[float]]) -> tuple[float, float, Floats]:
    """Of ratios in each launch, a pair an entry: the share found significantly different, the share of 95 % intervals
    that hold 1, and the estimated ratios."""
    samples = [Samples((), ratios) for ratios in pairs]
    found = compare_families(samples, np.arange(len(samples)))
    holds = (found.low <= 1) & (found.high >= 1)
    return float(found.significant.mean()), float(holds.mean()), found.ratio


_PLANTED = """
#include <chrono>

#include "operations/operation.hpp"

namespace timpani {

namespace {

template <bool slower>
class Planted : public Operation {
  public:
    explicit Planted(const OperationSpec& spec) : Operation(find_datatype("uint8"), spec.comm, spec.controls) {}

    int operator()(std::byte* send, std::byte* receive) override {
        const auto begin = Clock::now();
        const int error = MPI_Bcast(rank() == 0 ? send : receive, kBytes, MPI_BYTE, 0, comm());
        // Both wait, so that the clock's readings, 25 ns apart, delay one as much as the other.
        const auto passed = std::chrono::duration<double>(Clock::now() - begin) * (slower ? 1.5 * FACTOR : 1.5);
        while (Clock::now() - begin < passed) {
        }
        return error;
    }
    [[nodiscard]] std::int64_t send_elements() const override { return rank() == 0 ? kBytes : 0; }
    [[nodiscard]] std::int64_t receive_elements() const override { return rank() == 0 ? 0 : kBytes; }
    void sent(std::int64_t first, Values values) const override {
        fill(values, first, [](std::int64_t i) { return static_cast<std::uint64_t>(i % 251); });
    }
    void expected(std::int64_t first, Values values) const override { sent(first, values); }

  private:
    using Clock = std::chrono::steady_clock;
    static constexpr int kBytes = 1024;
};

const RegisterOperation plain{"setup", "planted/plain", make<Planted<false>>};
const RegisterOperation slower{"setup", "planted/slower", make<Planted<true>>};

}  // namespace

}  // namespace timpani
"""
