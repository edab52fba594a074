"""Open MPI 6's components for collectives, as variants."""

from pathlib import Path

from timpani.libraries.openmpi.offered_variants import components
from timpani.study.variant import parse_variants

CONSTRUCTED = Path(__file__).parents[1] / "data" / "ompi_info" / "openmpi-6.0-components-constructed.txt"
"""In the form of 4.1.4's answer, with the components and priorities of Open MPI's documentation of 6.0 and its sources.
No ompi_info of version 6 printed it."""


def test_xhc_and_acoll_are_preferred_like_any_component() -> None:
    found = components(CONSTRUCTED.read_text())
    assert found.variants == {
        "acoll": "--mca coll_acoll_priority 100",
        "adapt": "--mca coll_adapt_priority 100",
        "basic": "--mca coll_basic_priority 100",
        "no-han": "--mca coll ^han",
        "sm": "--mca coll_sm_priority 100",
        "tuned": "--mca coll_tuned_priority 100",
        "xhc": "--mca coll_xhc_priority 100",
    }
    assert {name for name, why in found.left_out.items() if why == "not in this library"} == {"ucc", "hcoll"}
    parsed = parse_variants(f"{name}: {settings}" for name, settings in found.variants.items())
    assert parsed["xhc"].parameters == (("coll_xhc_priority", "100"),)
