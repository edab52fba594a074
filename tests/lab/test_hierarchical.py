"""Algorithms that know nodes and switches, across the links that they are to spare: what crossed is counted."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.campaign.live import results
from tests.cli.typed import typed
from tests.installed import OPEN_MPIS, needs_open_mpi
from tests.lab.conftest import Made, needs_lab

pytestmark = [needs_open_mpi, needs_lab]

SIZE = 2**14
PLACEMENTS = {"category:1:2": [1, 1, 2, 2, 3, 3, 4, 4], "category:3:2": [1, 3, 2, 4, 1, 3, 2, 4]}
"""The node of each rank; nodes 1 and 2 share a switch, and 3 and 4. Neighbors are as close as can be, and as far."""

ENTERING = {
    # vectors of SIZE that enter another node, and another switch's group, in all
    "bcast timpani/three_level": (3, 1),
    "bcast composed/three_level": (3, 1),
    "bcast timpani/two_level_chain": (3, 1),
    "bcast timpani/full_lane": (3, 1),
    "reduce timpani/two_level_chain": (3, 1),
    "allreduce timpani/full_lane": (6, 3),
}
ASKED = {
    "category:1:2": ("bcast composed/three_level", "bcast timpani/full_lane", "reduce timpani/two_level_chain"),
    "category:3:2": (*ENTERING,),
}
"""Of neighbors that are close a tree, lanes and a reduction: that is the easier case."""


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_only_the_necessary_messages_cross_nodes_and_switches(lab: Made, tmp_path: Path, placement: str) -> None:
    study = tmp_path / "study.toml"
    names: dict[str, list[str]] = {}
    for name in ASKED[placement]:
        collective, algorithm = name.split()
        names.setdefault(collective, []).append(algorithm)
    lines = [f"{collective} = {json.dumps(algorithms)}" for collective, algorithms in names.items()]
    study.write_text(
        f"ranks = [8]\nsizes = [{SIZE}]\nplacement = ['{placement}']\nlaunches = 1\nslot = '5ms'\n"
        + "\n".join(["[collectives]", *lines, ""])
    )
    folder = tmp_path / "c"
    options = ("--on", f"lab:{lab.id}", "--mpi", OPEN_MPIS[0].mpirun, "--prove", "-o", folder)
    done = typed("run", study, *options)
    assert done.returncode == 0, done.stderr
    assert [line["error"] for line in results(folder)] == [None] * len(ASKED[placement])
    nodes = np.array(PLACEMENTS[placement])
    groups = (nodes - 1) // 2
    for proof in map(json.loads, (folder / "proofs.jsonl").read_text().splitlines()):
        sent = np.array(proof["bytes"])
        crossing = [sent[part[:, None] != part[None, :]].sum() / SIZE for part in (nodes, groups)]
        assert tuple(crossing) == ENTERING[f"{proof['collective']} {proof['provider']}/{proof['algorithm']}"], proof
