"""Timpani's algorithms: registered by their files, verified, and planted mistakes caught."""

import json
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.builds import MUTATE, build_native_tests
from tests.installed import FOUND
from timpani.errors import UserError
from timpani.libraries.catalogue import Catalogue
from timpani.native.build import build_without_mpi
from timpani.native.mpi import Mpi
from timpani.native_sources import sources
from timpani.schedules.algorithms.verification import own_catalogue, parse_range, resolve_names, verify_algorithms

MUST_CATCH = 0.99


@pytest.fixture(scope="module")
def mpi() -> Mpi:
    return FOUND[0]


@pytest.fixture(scope="module")
def own(mpi: Mpi) -> Catalogue:
    return own_catalogue(mpi)


def test_every_algorithm_is_in_the_file_named_after_it_or_in_a_table(own: Catalogue) -> None:
    registered = {f"{info.collective}_{info.name}" for info in own}
    files = {path.stem: path.read_text() for path in (sources() / "algorithms").glob("*.cpp")}
    # A file may register the same movement for a sibling: scatterv as scatter, reduce_scatter_block, exscan.
    siblings = {f"{name}v": name for name in ("allgather", "alltoall", "gather", "scatter")}
    siblings |= {"reduce_scatter_block": "reduce_scatter", "exscan": "scan"}
    # A table registers several algorithms of several collectives, and is named after what they share.
    tables = {stem: text for stem, text in files.items() if stem not in registered}
    in_tables = {
        info: stem
        for info in own
        for stem, text in tables.items()
        if f'"{info.name}"' in text and (f'"{info.collective}"' in text or f'"{siblings.get(info.collective)}"' in text)
    }
    assert all(list(in_tables.values()).count(stem) > 1 for stem in tables)
    for info in own:
        home = siblings.get(info.collective, info.collective)
        named = {f"{info.collective}_{info.name}", f"{home}_{info.name}"} & files.keys()
        assert named or info in in_tables, info


def test_every_algorithm_says_who_described_it_and_what_it_costs(own: Catalogue) -> None:
    for info in own:
        assert info.source, info.name
        assert "α" in info.cost, info.name
        assert all(parameter.default >= parameter.minimum for parameter in info.parameters)


def test_all_are_right_at_every_rank_count_to_17(mpi: Mpi, own: Catalogue) -> None:
    findings = list(verify_algorithms(build_without_mpi(mpi), resolve_names(["all"], own), (1, 17), (0, 20)))
    assert [finding for finding in findings if "mistake" in finding] == []
    assert len(findings) == len(list(own))
    assert all(finding["checked"] > 0 for finding in findings)


EQUIVALENT = tomllib.loads((Path(__file__).parents[1] / "data/mutants/equivalent.toml").read_text())
"""Planted mistakes that are none: by algorithm the `reason` and the `survivors`, each by name."""


def test_planted_mistakes_are_caught_but_those_that_are_none(mpi: Mpi, own: Catalogue) -> None:
    names = resolve_names(["all"], own)
    program = str(build_native_tests(mpi).with_name(MUTATE))
    answer = subprocess.run([program, "5", "6", "7", "7", *names], capture_output=True, text=True, check=True)
    results = {
        f"{line['collective']}/{line['algorithm']}": line for line in map(json.loads, answer.stdout.splitlines())
    }
    assert list(results) == names
    survivors = {name: sorted(result["survivors"]) for name, result in results.items() if result["survivors"]}
    assert survivors == {name: each["survivors"] for name, each in EQUIVALENT.items()}
    assert all(each["reason"] for each in EQUIVALENT.values())
    made = sum(result["made"] for result in results.values())
    assert made > 10_000
    assert sum(result["caught"] for result in results.values()) >= MUST_CATCH * made


def test_names_stand_for_one_a_collective_or_all(own: Catalogue) -> None:
    assert resolve_names(["bcast/binomial", "timpani/bcast/binomial"], own) == ["bcast/binomial"]
    assert resolve_names(["scan"], own) == [f"scan/{info.name}" for info in own.algorithms["scan"]]
    assert len(resolve_names(["all"], own)) == len(list(own))
    with pytest.raises(UserError, match="binominal"):
        resolve_names(["bcast/binominal"], own)
    with pytest.raises(UserError, match="broadcast"):
        resolve_names(["broadcast/binomial"], own)


@pytest.mark.parametrize("text", ["", "0:4", "4:2", "1:x", "-1", "1:9999999"])
def test_ranges_that_are_none(text: str) -> None:
    with pytest.raises(UserError, match="is not a range"):
        parse_range(text, 1)
