"""The oldest and the newest version of each library that PyPI has; `python -m bench libraries` checks all, and more."""

from pathlib import Path

import pytest

from tests.cli.typed import typed
from tests.installed import needs_two_cores, rest
from tests.libraries.counted import compiled_calls, ran
from timpani.campaign.folder.load import load
from timpani.libraries.find import choose_mpi
from timpani.libraries.library import LaunchRequest
from timpani.libraries.registry import LIBRARIES

pytestmark = rest

FOLDER = Path(__file__).parents[3] / "build" / "mpi-versions"
"""Where `tools/install-for-tests versions` puts each, alone in a folder."""

VERSIONS = {
    "openmpi-4.1.7": "4.1.7",
    "openmpi-5.0.11": "5.0.11",
    "mpich-3.4.3": "3.4.3",
    "mpich-5.0.2": "5.0.2",
    "intel-2021.1.1": "2021.1",
    "intel-2021.19.0": "2021.19.0",
}
"""By folder the version that the library reports of itself."""

NONE = "no {} in build/mpi-versions: `tools/install-for-tests versions` installs it"


def skip_in_a_spaced_folder() -> None:
    if " " in str(FOLDER):
        pytest.skip("may be skipped: MPICH's compiler wrappers take no space in their path")


@needs_two_cores
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.needs((FOLDER / name / "bin").exists(), NONE.format(name)))
        for name in VERSIONS
    ],
)
def test_a_version_is_found_lists_its_algorithms_and_starts_ranks(name: str, tmp_path: Path) -> None:
    mpi = choose_mpi(str(FOLDER / name))
    assert (mpi.kind, mpi.version, mpi.parent) == (name.partition("-")[0], VERSIONS[name], None)
    assert mpi.mpirun.is_relative_to(FOLDER / name)
    if mpi.kind == "mpich":
        skip_in_a_spaced_folder()
    else:  # asking MPICH takes a build of Timpani's programs
        assert {"bcast", "allreduce", "alltoall", "barrier"} <= LIBRARIES[mpi.kind].algorithms.catalogue(
            mpi
        ).algorithms.keys()
    words = (str(compiled_calls(mpi, tmp_path)), "bcast", "64", "allgather", "64")
    done = ran(mpi, LaunchRequest(2, "core", False, (), {}, words))
    assert done.returncode == 0, done.stdout + done.stderr


OLDEST = "mpich-3.4.3"


@needs_two_cores
@pytest.mark.needs((FOLDER / OLDEST / "bin").exists(), NONE.format(OLDEST))
def test_the_oldest_mpich_is_measured_with_a_forced_algorithm(tmp_path: Path) -> None:
    """One version alone, since each takes a build: the one that differs most from those that other tests use."""
    skip_in_a_spaced_folder()
    words = ("--ranks", "2", "--sizes", "8", "--launches", "1", "--mpi", FOLDER / OLDEST, "-o", tmp_path / "out")
    done = typed("run", "bcast", "--algorithms", "default,binomial", *words)
    assert done.returncode == 0, done.stderr
    found = load(tmp_path / "out").results.select("algorithm", "error").rows()
    assert sorted(found) == [("binomial", None), ("default", None)]
