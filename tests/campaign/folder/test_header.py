"""campaign.json as data: what imports wrote loads, and a wrong value is named."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.campaign_files import write_header
from tests.report.conftest import synthetic_header
from timpani.campaign.folder.header import Header, further_command, keep_header, read_header
from timpani.campaign.folder.header_parts import RecordedMpi
from timpani.errors import UserError
from timpani.libraries.library import Host, OutsideSetting
from timpani.machine.describe import describe_cluster, describe_machine
from timpani.machine.nodes.model import Machine, NodeGroup
from timpani.report.page.methods import provenance


def continuing(folder: Path, command: str = "", **parts: Any) -> Header:
    """The header of a run that continues the campaign in `folder`."""
    about: dict[str, Any] = {"study": {}, "machine": read_header(folder).machine, "mpi": RecordedMpi(), "left_out": []}
    return Header.new(command=command, **about | parts)


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"study": {"launches": "many"}}, "study.launches"),
        ({"machine": {"cpu": 7}}, "machine.cpu"),
        ({"machine": {"hosts": [{"slots": 2}]}}, "machine.hosts.0.name"),
        ({"commands": "timpani run"}, "commands"),
    ],
)
def test_a_value_that_can_not_be_meant_is_named(tmp_path: Path, parts: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=f"is no file of a campaign: {said} "):
        read_header(write_header(tmp_path, **parts))


def test_unknown_keys_stay_when_the_campaign_is_continued(tmp_path: Path) -> None:
    folder = write_header(tmp_path, study={"title": "old"}, future={"state": 1}, commands=["timpani run 1"])
    keep_header(folder, continuing(folder, "timpani run 2", study={"title": "new"}))
    values = json.loads((folder / "campaign.json").read_text())
    assert values["future"] == {"state": 1}
    assert values["study"] == {"title": "new"}
    assert values["commands"] == ["timpani run 1", "timpani run 2"]


@pytest.mark.parametrize(("chooses", "refused"), [(True, True), (False, False)])
def test_a_campaign_is_not_continued_with_another_default(tmp_path: Path, chooses: bool, refused: bool) -> None:
    folder = write_header(tmp_path, outside=[])
    setting = OutsideSetting("coll_tuned_bcast_algorithm", "1", "~/.openmpi/mca-params.conf line 2", chooses)
    new = continuing(folder, outside=[setting])
    if refused:
        with pytest.raises(
            UserError, match=r"another default: no setting .* and coll_tuned_bcast_algorithm=1 does now"
        ):
            keep_header(folder, new)
    else:
        assert keep_header(folder, new).outside == ()


def test_a_campaign_is_not_continued_with_another_version_of_a_users_algorithm(tmp_path: Path) -> None:
    mine = {"bcast_mine.cpp": "fast"}
    folder = write_header(tmp_path, algorithms=mine)
    assert keep_header(folder, continuing(folder, algorithms=mine)).algorithms == mine
    with pytest.raises(UserError, match="other files in the folder TIMPANI_ALGORITHMS; choose another folder, or"):
        keep_header(folder, continuing(folder, algorithms={"bcast_mine.cpp": "faster"}))


def test_a_cluster_comes_back_as_it_was(tmp_path: Path) -> None:
    machine = Machine(
        name="m",
        launcher="slurm",
        modules=("mpi",),
        groups=(NodeGroup(name="g1", nodes=("n1", "n2"), cores=4, sockets=2, switch=""),),
    )
    described = describe_cluster(machine, (Host("n2", 4),))
    header = read_header(write_header(tmp_path, machine=described.model_dump(mode="json", exclude_unset=True)))
    assert (header.machine.cluster, header.machine.hosts) == (machine, (Host("n2", 4),))


def test_a_host_whose_name_is_a_range_is_not_expanded(tmp_path: Path) -> None:
    """Ten thousand million names would fill the memory of any computer."""
    machine = {"name": "m", "hosts": [{"name": "n[0-9999999999]", "slots": 2}]}
    header = read_header(write_header(tmp_path, machine=machine))
    assert ("Nodes", ["n[0-9999999999]"]) in [(what, list(texts)) for what, texts in provenance(header, [])]


def test_a_machine_of_too_many_nodes_is_refused(tmp_path: Path) -> None:
    machine = {"name": "m", "launcher": "slurm", "groups": [{"name": "g", "nodes": "n[0-9999999999]", "cores": 2}]}
    header = read_header(write_header(tmp_path, machine=machine))
    with pytest.raises(UserError, match="names 10000000000 nodes"):
        _ = header.machine.cluster


def test_this_computer_comes_back_as_it_was(tmp_path: Path) -> None:
    here = describe_machine()
    header = read_header(write_header(tmp_path, machine=here.model_dump(mode="json", exclude_unset=True)))
    assert header.machine == here
    assert header.machine.domains_of(here.name).keys() == here.domains.keys()
    assert header.machine.domains_of("elsewhere") == {}


def header(*commands: str, budget: float | None = None) -> Header:
    values = synthetic_header() | {"commands": list(commands), "id": "a"}
    values["study"] = values["study"] | {"budget": budget}
    return Header.check(values, "here")


def test_the_last_run_command_is_repeated_with_more_launches_into_the_same_folder() -> None:
    made = header("timpani run bcast --sizes 8", "timpani run bcast --launches=8 --sizes 8 --launches 9 -o old")
    assert further_command(made, Path("a b"), 30, 90.0) == "timpani run bcast --sizes 8 -o 'a b' --launches 30"


def test_a_budget_lasts_for_the_launches() -> None:
    made = header("timpani run demo --budget 10s -o demo", budget=100.0)
    assert further_command(made, Path("demo"), 127, 307.0) == "timpani run demo -o demo --launches 127 --budget 7m"


def test_only_campaigns_of_run_have_a_further_command() -> None:
    assert further_command(header("timpani tune bcast -o tuned"), Path("c"), 30, 9.0) is None
    assert further_command(header(), Path("c"), 30, 9.0) is None
