"""The studies that come with the package can be planned on every library."""

import pytest

from tests.installed import each_kind
from timpani.campaign.plan.from_study import Resources, plan
from timpani.cli.terminal.measuring import plan_blocks
from timpani.libraries.available import AvailableAlgorithms
from timpani.machine.detect import this_computer
from timpani.machine.nodes.host_list import choose_hosts
from timpani.machine.nodes.model import Machine, NodeGroup
from timpani.native.mpi import Mpi
from timpani.report.document.blocks import Sentence
from timpani.study.cell import COMPOSED, OWN, category
from timpani.study.compose import ShippedStudy, shipped_studies
from timpani.study.operations import OPERATIONS

FOUR_GROUPS = Machine(
    name="m",
    launcher="openmpi",
    groups=tuple(NodeGroup(name=f"g{i}", nodes=(f"n{i}", f"n{i + 4}"), cores=2) for i in range(4)),
)

every_study = pytest.mark.parametrize("shipped", shipped_studies(), ids=lambda shipped: shipped.name)


@every_study
def test_each_says_what_it_asks(shipped: ShippedStudy) -> None:
    assert shipped.title
    assert shipped.question.endswith("?")


@each_kind
@every_study
def test_each_can_be_planned_and_says_what_is_left_out(mpi: Mpi, shipped: ShippedStudy) -> None:
    on_nodes = any(map(category, shipped.study.placement))
    resources = Resources(
        machine=FOUR_GROUPS if on_nodes else this_computer(mpi),
        cores=lambda _: 2,
        distinct=lambda ranks: [(0, 1)],
        hosts=choose_hosts(FOUR_GROUPS) if on_nodes else (),
    )
    planned = plan(shipped.study, AvailableAlgorithms.ask(mpi), resources)
    notes = [block.text for block in plan_blocks(planned) if isinstance(block, Sentence)]
    measured = {(cell.cell.collective, cell.cell.algorithm.name) for cell in planned.cells}
    for collective, algorithms in shipped.study.collectives.items():
        if OPERATIONS[collective].kind == "collective":
            assert (collective, "default") in measured
            assert len([name for name in measured if name[0] == collective]) > 1, "nothing to compare the default with"
        for text in algorithms:
            if "/" in text and not text.startswith((mpi.kind, OWN, COMPOSED)):
                assert any(line.startswith(f"left out: {collective} {text}: ") for line in notes)
    assert {cell.cell.ranks for cell in planned.cells} == set(shipped.study.ranks)
    assert shipped.study.launches >= planned.launches_needed
