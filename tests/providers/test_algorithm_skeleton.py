"""The source of a new algorithm: it verifies as it is, in a folder of the user's own."""

import json
from pathlib import Path

import pytest

from tests.cli.typed import typed
from tests.installed import needs_compiler, needs_mpi, needs_two_cores
from timpani.campaign.folder.header import read_header
from timpani.errors import UserError
from timpani.native.build import build_without_mpi
from timpani.native.sources import ALGORITHMS, checkout_algorithms, further_algorithms
from timpani.providers import algorithm_skeleton
from timpani.providers.algorithm_skeleton import skeleton
from timpani.providers.own import read_own_catalogue
from timpani.providers.verification import verify_algorithms

COLLECTIVES = tuple(algorithm_skeleton._STARTS)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that TIMPANI_ALGORITHMS names."""
    named = tmp_path / "algorithms"
    named.mkdir()
    monkeypatch.setenv(ALGORITHMS, str(named))
    return named


@needs_compiler
def test_every_skeleton_verifies(folder: Path) -> None:
    for collective in COLLECTIVES:
        assert typed("new", "algorithm", f"{collective}/newcomer").returncode == 0
    programs = build_without_mpi(None)
    own = read_own_catalogue(programs)
    assert all("newcomer" in [each.name for each in own.algorithms[collective]] for collective in COLLECTIVES)
    names = [f"{collective}/newcomer" for collective in COLLECTIVES]
    found = list(verify_algorithms(programs, names, (1, 17), (0, 17)))
    assert [each["algorithm"] for each in found] == ["newcomer"] * len(COLLECTIVES)
    assert [each.get("mistake") for each in found] == [None] * len(COLLECTIVES)

    # A change of the file is built and verified: the root sends one element less.
    file = folder / "bcast_newcomer.cpp"
    file.write_text(file.read_text().replace("0, args.count}", "0, args.count - 1}"))
    changed = build_without_mpi(None)
    assert changed != programs
    (found_wrong,) = verify_algorithms(changed, ["bcast/newcomer"], (1, 4), (0, 4))
    assert "mistake" in found_wrong


@needs_mpi
@needs_two_cores
def test_a_campaign_is_of_one_version_of_the_file(folder: Path, tmp_path: Path) -> None:
    assert typed("new", "algorithm", "bcast/newcomer").returncode == 0
    file = folder / "bcast_newcomer.cpp"
    words = ("run", "bcast", "--algorithms", "default,timpani/newcomer", "--sizes", "8", "--launches", "1")
    done = typed(*words, "-o", tmp_path / "c")
    assert done.returncode == 0, done.stderr
    assert read_header(tmp_path / "c").algorithms == {file.name: file.read_text()}
    file.write_text(f"{file.read_text()}// changed\n")
    refused = typed(*words, "-o", tmp_path / "c")
    assert (refused.returncode, "was measured with other files" in refused.stderr) == (2, True)


@needs_compiler
def test_a_file_that_does_not_compile_is_named(folder: Path) -> None:
    (folder / "bcast_broken.cpp").write_text("not C++")
    with pytest.raises(UserError, match=r"bcast_broken\.cpp.*unset TIMPANI_ALGORITHMS"):
        build_without_mpi(None)


def test_the_file_is_named_by_collective_and_name_and_written_once(folder: Path) -> None:
    done = typed("new", "algorithm", "bcast/two_chains")
    assert (done.returncode, [each.name for each in folder.iterdir()]) == (0, ["bcast_two_chains.cpp"])
    assert "`timpani verify bcast/two_chains`" in done.stdout
    for taken in ("bcast/two_chains", "bcast/knomial"):  # the second is built in
        refused = typed("new", "algorithm", taken)
        assert refused.returncode == 2
        assert refused.stderr == f"timpani: there is an algorithm {taken} already; choose another name\n"
    assert len([*folder.iterdir()]) == 1


def test_two_algorithms_of_one_name_are_refused(tmp_path: Path) -> None:
    """A user's bcast/knomial would be verified, measured and drawn under the name of the built-in one."""
    line = json.dumps(
        {
            **{"collective": "bcast", "name": "knomial", "parameters": [], "aliases": [], "source": "", "cost": ""},
            **dict.fromkeys(("power_of_two", "even", "commutative", "topology", "window"), False),
        }
    )
    verifier = tmp_path / "timpani-verify"
    verifier.write_text(f"#!/bin/sh\necho '{line}'\necho '{line}'\n")
    verifier.chmod(0o755)
    with pytest.raises(UserError, match="two algorithms are called bcast/knomial; give the one in the folder TIMPANI"):
        read_own_catalogue(tmp_path)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("bcst/new", "unknown collective 'bcst'; did you mean bcast?"),
        ("bcast", "'' can't name an algorithm; write small letters, digits and _: bcast/two_chains"),
        ("bcast/../x", "can't name an algorithm"),
        ("bcast/Two-Chains", "can't name an algorithm"),
        ("exscan/new", "there is no skeleton for exscan; begin from one of bcast, scatter"),
    ],
)
def test_an_invalid_algorithm_name_is_refused_in_one_line(name: str, said: str) -> None:
    with pytest.raises(UserError) as refused:
        skeleton(name)
    assert said in str(refused.value)


def test_a_variable_that_names_no_folder_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ALGORITHMS, str(tmp_path / "missing"))
    with pytest.raises(UserError, match="TIMPANI_ALGORITHMS names no folder"):
        further_algorithms()


def test_a_checkout_has_a_folder_for_it() -> None:
    folder = checkout_algorithms()
    assert folder is None or (folder / "bcast_binomial.cpp").is_file()
