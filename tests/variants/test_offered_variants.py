"""Components and transports as variants: of Open MPI from recorded answers of ompi_info, and of other libraries."""

import sys
from pathlib import Path

import pytest

from timpani.errors import UserError
from timpani.libraries.intel import offered_variants
from timpani.libraries.mpich.settings import Variable
from timpani.libraries.mpich.settings import transports as mpich_transports
from timpani.libraries.openmpi.settings import components, transports
from timpani.native.mpi import Mpi
from timpani.study.variant import parse_variants
from timpani.variants.named import group_variants

RECORDED = (Path(__file__).parents[1] / "data" / "ompi_info" / "openmpi-4.1.4-components.txt").read_text()


def test_each_component_is_preferred_and_the_first_is_excluded() -> None:
    found = components(RECORDED)
    assert found.variants == {
        "adapt": "--mca coll_adapt_priority 100",
        "basic": "--mca coll_basic_priority 100",
        "han": "--mca coll_han_priority 100",
        "sm": "--mca coll_sm_priority 100",
        "no-tuned": "--mca coll ^tuned",
    }
    assert found.left_out["libnbc"] == "non-blocking collectives only"
    assert {name for name, why in found.left_out.items() if why == "not in this library"} == {
        "xhc",
        "acoll",
        "ucc",
        "hcoll",
    }


def test_a_component_that_is_off_is_switched_on() -> None:
    added = 'mca:coll:ucc:version:"component:5.0"\nmca:coll:ucc:param:coll_ucc_priority:value:10\n'
    text = f"{RECORDED}\n{added}mca:coll:ucc:param:coll_ucc_enable:value:false\n"
    assert components(text).variants["ucc"] == "--mca coll_ucc_enable 1 --mca coll_ucc_priority 100"


def test_transports_are_layers_and_single_copies() -> None:
    found = transports(RECORDED)
    assert found.variants["tcp"] == "--mca pml ob1 --mca btl self,tcp"
    assert found.variants["no-single-copy"] == "--mca btl_vader_single_copy_mechanism none"
    assert found.left_out["cma"] == "in force by default"
    assert found.left_out["xpmem"] == found.left_out["knem"] == "not in this library"
    assert found.variants["openib"] == "--mca pml ob1 --mca btl self,openib"
    assert "vader" not in found.variants


FIVE = "\n".join(
    f'mca:{name}:version:"component:5.0.11"' for name in ("btl:sm", "smsc:cma", "smsc:xpmem", "smsc:knem")
) + "".join(
    f"\nmca:smsc:{name}:param:smsc_{name}_priority:value:{priority}"
    for name, priority in (("cma", 37), ("xpmem", 42), ("knem", 40))
)


def devices(monkeypatch: pytest.MonkeyPatch, folder: Path, *names: str) -> None:
    """Have only the devices `names` of the mechanisms."""
    for name in names:
        (folder / name).touch()
    monkeypatch.setattr(
        sys.modules[transports.__module__], "_DEVICES", {name: f"{folder}/{name}" for name in ("xpmem", "knem")}
    )


def test_single_copies_of_5_0_are_components(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    devices(monkeypatch, tmp_path, "xpmem", "knem")
    found = transports(FIVE)
    assert found.variants == {
        "cma": "--mca smsc cma",
        "knem": "--mca smsc knem",
        "no-single-copy": "--mca smsc ^cma,knem,xpmem",
    }
    assert found.left_out["xpmem"] == "in force by default"


TWO_MODULES = (
    "MPICH Version:      5.0.2\nMPICH Device:       ch4:ucx ofi\nMPICH configure:    --with-device=ch4:ucx,ofi\n"
)


def variables(**values: int) -> list[Variable]:
    return [Variable(f"MPIR_CVAR_{name}", value, "") for name, value in values.items()]


def test_further_network_modules_and_the_lack_of_shared_memory_are_variants() -> None:
    found = mpich_transports(TWO_MODULES, variables(CH4_NETMOD=0, NOLOCAL=0, CH4_CMA_ENABLE=1, CH4_XPMEM_ENABLE=1))
    assert found.variants == {
        "ofi": "MPIR_CVAR_CH4_NETMOD=ofi",
        "no-shared-memory": "MPIR_CVAR_NOLOCAL=1",
        "no-cma": "MPIR_CVAR_CH4_CMA_ENABLE=0",
    }
    assert found.left_out["ucx"] == "in force by default"
    assert "XPMEM" in found.left_out["no-xpmem"]
    assert set(parse_variants(f"{name}: {text}" for name, text in found.variants.items())) == set(found.variants)


def test_the_fabrics_of_intel_mpi_are_variants() -> None:
    mpi = Mpi("intel", "Intel MPI", "2021.18.1", Path("/i/mpiexec.hydra"), Path("/i/mpigxx"), None, ())
    assert offered_variants(mpi)["transports"].variants == {"ofi": "I_MPI_FABRICS=ofi", "shm": "I_MPI_FABRICS=shm"}
    found = group_variants(mpi, "transports")
    assert found.texts == ["ofi: I_MPI_FABRICS=ofi", "shm: I_MPI_FABRICS=shm"]
    assert found.left_out == {"shm:ofi": "in force by default"}
    with pytest.raises(UserError, match="components"):
        group_variants(mpi, "components")


def test_the_providers_of_an_installed_intel_mpi_are_variants(tmp_path: Path) -> None:
    for name in ("libtcp-fi.so", "libverbs-1.12-fi.so", "libverbs-1.1-fi.so", "librxm-fi.so"):
        (tmp_path / "lib/prov").mkdir(parents=True, exist_ok=True)
        (tmp_path / "lib/prov" / name).touch()
    mpi = Mpi("intel", "Intel MPI", "2021.18.1", tmp_path / "bin/mpiexec.hydra", tmp_path / "bin/mpigxx", None, ())
    found = offered_variants(mpi)["transports"]
    assert set(found.variants) == {"ofi", "shm", "ofi-tcp", "ofi-verbs"}
    assert found.variants["ofi-tcp"] == "I_MPI_FABRICS=ofi I_MPI_OFI_PROVIDER=tcp"
    assert "other providers" in found.left_out["ofi-rxm"]
