"""Collectives composed of the library's, as they are offered and planned."""

import pytest

from tests.installed import FOUND, needs_mpi
from timpani.campaign.plan.from_study import Resources, plan
from timpani.errors import UserError
from timpani.libraries.available import AvailableAlgorithms
from timpani.libraries.catalogue import composed_catalogue
from timpani.machine.nodes.host_list import choose_hosts
from timpani.machine.nodes.model import Machine, NodeGroup
from timpani.study.cell import Algorithm
from timpani.study.study import Study

MACHINE = Machine(
    name="m",
    launcher="openmpi",
    groups=tuple(NodeGroup(name=f"g{i}", nodes=(f"n{i}", f"n{i + 2}"), cores=2) for i in range(2)),
)


def test_the_studys_types_are_other_names() -> None:
    offered = {(info.collective, *info.aliases): info.name for info in composed_catalogue()}
    assert offered["bcast", "type_1"] == offered["reduce", "type_1"] == "three_level"
    assert offered["gather", "type_3"] == "two_level_linear"
    assert ("reduce", "type_3") not in offered
    resolved = composed_catalogue().resolve("bcast", Algorithm.parse("composed/type_2:setup_each_call=1"))
    assert str(resolved) == resolved.label == "composed/two_level:setup_each_call=1"


@pytest.mark.parametrize(
    ("collective", "text", "said"),
    [
        ("bcast", "composed/two_level:setup_each_call=2", "out of range"),
        ("alltoallv", "composed/scatters:setup_each_call=1", "no parameters"),
        ("bcast", "composed/tow_level", "did you mean two_level"),
    ],
)
def test_an_unknown_composition_is_refused(collective: str, text: str, said: str) -> None:
    with pytest.raises(UserError) as error:
        composed_catalogue().resolve(collective, Algorithm.parse(text))
    assert said in str(error.value)


@needs_mpi
def test_too_few_nodes_or_groups_are_left_out_in_words() -> None:
    study = Study.check(
        {
            "collectives": {"bcast": ["default", "composed/all"], "setup": ["default", "composed/all"]},
            "ranks": [2, 4],
            "sizes": [8, 1024],
            "placement": ["core", "category:3:1"],
        },
        "test",
    )
    resources = Resources(MACHINE, lambda _: 8, lambda ranks: [(0, 1)], choose_hosts(MACHINE))
    planned = plan(study, AvailableAlgorithms.ask(FOUND[0]), resources)
    left_out = [str(each) for each in planned.skipped]
    on_one = "takes 2 nodes or more, and the ranks are on 1 node"
    for name in ("three_level", "two_level", "two_level_linear"):
        assert left_out.count(f"bcast composed/{name} on 2 ranks by core: {on_one}") == 1
    in_one = "takes 2 groups of nodes or more, and the ranks are in 1 group"
    assert f"setup composed/three_level on 4 ranks by core: {in_one}" in left_out
    assert not [text for text in left_out if "category:3:1" in text]
    assert {cell.cell.message_bytes for cell in planned.cells if cell.cell.collective == "setup"} == {0}
