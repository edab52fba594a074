"""Intel MPI's presets, from what it prints and, where it is installed, from itself."""

from pathlib import Path

import pytest

from tests.cli.typed import typed
from tests.installed import INTEL, needs_intel, needs_two_cores
from timpani.campaign.folder.load import load
from timpani.libraries.find import choose_mpi, mpi_of_launcher
from timpani.libraries.intel.algorithms import read_presets
from timpani.libraries.launch_request import LaunchRequest
from timpani.libraries.registry import LIBRARIES
from timpani.study.cell import Algorithm

LISTED = """\
I_MPI_ADJUST_BCAST
  MPI Datatype:
    MPI_CHAR
  Description:
    Controls bcast algorithm
    range: 0-3
I_MPI_ADJUST_BCAST_LIST
  MPI Datatype:
    MPI_CHAR
I_MPI_ADJUST_REDUCE_SCATTER_BLOCK
  Description:
    range: 0-1
I_MPI_ADJUST_IBCAST
    range: 0-9
"""


def test_presets_are_numbers_and_0_is_the_librarys_choice() -> None:
    presets = read_presets(LISTED)
    assert {name: [info.value for info in infos] for name, infos in presets.items()} == {
        "bcast": ["1", "2", "3"],
        "reduce_scatter_block": ["1"],
    }
    assert [info.name for info in presets["bcast"]] == ["preset_1", "preset_2", "preset_3"]


@needs_intel
def test_the_installation_is_found_by_its_folder_with_its_own_launcher() -> None:
    mpi = choose_mpi(str(INTEL))
    assert (mpi.kind, mpi.mpirun.name, mpi.cxx.name) == ("intel", "mpiexec.hydra", "mpigxx")
    assert mpi_of_launcher(str(INTEL / "bin" / "mpirun")) == mpi


@needs_intel
def test_the_library_lists_its_presets() -> None:
    mpi = choose_mpi(str(INTEL))
    catalogue = LIBRARIES["intel"].algorithms.catalogue(mpi)
    assert {"bcast", "allreduce", "alltoallv", "scatterv", "barrier"} <= set(catalogue.algorithms)
    chosen = catalogue.resolve("bcast", Algorithm.parse("intel/3"))
    info = catalogue.info("bcast", chosen)
    assert info is not None
    assert LIBRARIES["intel"].settings.setting(mpi, info, chosen) == (("I_MPI_ADJUST_BCAST", "3"),)


@needs_intel
@needs_two_cores
def test_presets_are_measured_with_the_default_and_timpanis_algorithms(tmp_path: Path) -> None:
    done = typed(
        *("run", "bcast", "--algorithms", "default,3,timpani/binomial", "--sizes", "8", "--launches", "1"),
        *("--slot", "0.1", "--mpi", str(INTEL), "-o", str(tmp_path / "campaign")),
    )
    assert done.returncode == 0, done.stderr
    campaign = load(tmp_path / "campaign")
    assert set(campaign.results["algorithm"]) == {"default", "preset_3", "binomial"}
    assert campaign.results["error"].null_count() == 3
    forced = [start for start in campaign.launches if "I_MPI_ADJUST_BCAST" in start["command"]]
    assert [start["command"][start["command"].index("I_MPI_ADJUST_BCAST") + 1] for start in forced] == ["3"]


@pytest.mark.parametrize(
    ("placement", "oversubscribed", "words"),
    [
        ("core", False, "-genv I_MPI_PIN_DOMAIN core -genv I_MPI_PIN_ORDER compact"),
        ("socket", False, "-genv I_MPI_PIN_ORDER scatter"),
        ("node", False, "-ppn 1"),
        ("ppr:2", False, "-ppn 2"),
        ("core", True, "-genv I_MPI_PIN 0 -genv I_MPI_WAIT_MODE 1"),
    ],
)
@needs_intel
def test_ranks_are_placed_by_variables(placement: str, oversubscribed: bool, words: str) -> None:
    mpi = choose_mpi(str(INTEL))
    started = LIBRARIES["intel"].launcher.command(
        mpi, LaunchRequest(2, placement, oversubscribed, (), {}, ("program",))
    )
    assert words in " ".join(started.argv)
    assert started.environment == {"I_MPI_ROOT": str(INTEL.resolve())}
