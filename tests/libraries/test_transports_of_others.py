"""Transports of MPICH and Intel MPI as variants, from what `mpichversion` and the control variables show."""

from pathlib import Path

import pytest

from timpani.errors import UserError
from timpani.libraries.intel.fabric_variants import offered_variants
from timpani.libraries.library_variants import group_variants
from timpani.libraries.mpich.algorithms import Variable
from timpani.libraries.mpich.transport_variants import transports
from timpani.native.mpi import Mpi
from timpani.study.variant import parse_variants

TWO_MODULES = (
    "MPICH Version:      5.0.2\nMPICH Device:       ch4:ucx ofi\nMPICH configure:    --with-device=ch4:ucx,ofi\n"
)
ONE_MODULE = "MPICH Version:    \t4.0.2\nMPICH Device:    \tch4:ucx\nMPICH configure: \t--with-ucx=/usr\n"


def variables(**values: int) -> list[Variable]:
    return [Variable(f"MPIR_CVAR_{name}", value, "") for name, value in values.items()]


def test_further_network_modules_and_the_lack_of_shared_memory_are_variants() -> None:
    found = transports(TWO_MODULES, variables(CH4_NETMOD=0, NOLOCAL=0, CH4_CMA_ENABLE=1, CH4_XPMEM_ENABLE=1))
    assert found.variants == {
        "ofi": "MPIR_CVAR_CH4_NETMOD=ofi",
        "no-shared-memory": "MPIR_CVAR_NOLOCAL=1",
        "no-cma": "MPIR_CVAR_CH4_CMA_ENABLE=0",
    }
    assert found.left_out["ucx"] == "in force by default"
    assert "XPMEM" in found.left_out["no-xpmem"]
    assert set(parse_variants(f"{name}: {text}" for name, text in found.variants.items())) == set(found.variants)


def test_what_a_library_lacks_is_listed() -> None:
    found = transports(ONE_MODULE, variables(CH4_NETMOD=0, NOLOCAL=0, CH4_XPMEM_ENABLE=1))
    assert found.variants == {"no-shared-memory": "MPIR_CVAR_NOLOCAL=1"}
    assert found.left_out["ofi"] == found.left_out["no-cma"] == "not in this library"
    assert transports(f"{ONE_MODULE}--with-xpmem", variables(CH4_XPMEM_ENABLE=1)).variants == {
        "no-xpmem": "MPIR_CVAR_CH4_XPMEM_ENABLE=0"
    }
    assert not transports("", []).variants


def test_the_fabrics_of_intel_mpi_are_variants() -> None:
    mpi = Mpi("intel", "Intel MPI", "2021.18.1", Path("/i/mpiexec.hydra"), Path("/i/mpigxx"), None, ())
    assert offered_variants(mpi)["transports"].variants == {"ofi": "I_MPI_FABRICS=ofi", "shm": "I_MPI_FABRICS=shm"}
    texts, left_out = group_variants(mpi, "transports")
    assert texts == ["ofi: I_MPI_FABRICS=ofi", "shm: I_MPI_FABRICS=shm"]
    assert "shm:ofi (in force by default)" in left_out
    with pytest.raises(UserError, match="components"):
        group_variants(mpi, "components")
