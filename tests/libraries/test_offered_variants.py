"""Components and transports of Open MPI as variants, from recorded answers of ompi_info."""

from pathlib import Path

import pytest

from tests.installed import OPEN_MPIS
from timpani.errors import UserError
from timpani.libraries.library_variants import group_variants
from timpani.libraries.openmpi.offered_variants import components, transports
from timpani.study.variant import parse_variants

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
    assert "openib" in found.left_out


def test_single_copies_of_5_0_are_components() -> None:
    text = "\n".join(f'mca:{name}:version:"component:5.0.11"' for name in ("btl:sm", "smsc:cma", "smsc:xpmem"))
    assert transports(text).variants == {
        "cma": "--mca smsc cma",
        "xpmem": "--mca smsc xpmem",
        "no-single-copy": "--mca smsc ^cma,xpmem",
    }


def test_an_answer_without_components_offers_nothing() -> None:
    assert not components("").variants
    assert not transports("").variants


@pytest.mark.needs(bool(OPEN_MPIS), "no Open MPI on this machine")
def test_the_library_here_offers_what_a_study_reads() -> None:
    mpi = OPEN_MPIS[0]
    found, left_out = group_variants(mpi, "transports")
    assert "tcp" in parse_variants(found)
    assert left_out.startswith("left out of --variants transports: ")
    with pytest.raises(UserError, match="unknown group of variants 'transport'"):
        group_variants(mpi, "transport")
