"""Which settings a library took, by what its running program shows."""

import pytest

from timpani.libraries.intel import control as intel_control
from timpani.libraries.intel import names_of_control
from timpani.libraries.mpich.settings import control as mpich_control
from timpani.libraries.openmpi.settings import control as openmpi_control
from timpani.libraries.openmpi.settings import preferred_component
from timpani.libraries.taken_settings import (
    InstalledSettings,
    TakenSettings,
    complaint_fault,
    read_taken,
    setting_fault,
)

TAKEN = TakenSettings(
    {"btl": "^vader", "limit": "65536", "copy": "cma", "on": "1", "DEVICE": "2"},
    {"copy": 1, "DEVICE": 2},
    {"DEVICE": "all     - Always\nnone    - Never\npercoll - Per collective"},
    {"COPY": "copy"},
)
INSTALLED = InstalledSettings(
    {"limit": "file (/etc/override.conf:3)", "plm_base_verbose": "default"},
    {"btl": frozenset({"vader", "self", "tcp"})},
)


def fault(name: str, asked: str, control: str | None = None) -> str:
    found = setting_fault(name, asked, control or name, TAKEN, lambda: INSTALLED)
    return f"{found.what}; {found.next_step}" if found else ""


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("btl", "^vader"),
        ("limit", "65536"),
        ("limit", "64K"),
        ("copy", "1"),
        ("on", "true"),
        ("DEVICE", "percoll"),
        ("COPY", "cma"),
        ("plm_base_verbose", "3"),
    ],
)
def test_effective_settings_and_settings_of_the_launcher_are_no_fault(name: str, asked: str) -> None:
    assert fault(name, asked) == ""


@pytest.mark.parametrize(
    ("name", "asked", "said"),
    [
        ("limt", "1", "the library has no parameter limt; did you mean limit?"),
        ("btl", "^vadr,self", "the library has no component vadr for btl; did you mean vader?"),
        ("limit", "8192", "limit=8192 is not in force: the library runs with '65536' from file (/etc/override.conf:3)"),
        ("copy", "bogus", "copy=bogus is not in force: the library runs with 'cma'"),
        ("on", "no", "on=no is not in force"),
        ("DEVICE", "1", "DEVICE=1 is not in force"),
        ("COPY", "bogus", "COPY=bogus is not in force: the library runs with 'cma'"),
    ],
)
def test_a_wrong_name_component_or_value_is_named(name: str, asked: str, said: str) -> None:
    assert said in fault(name, asked)


def test_variables_lead_to_the_control_variables_that_they_set() -> None:
    assert openmpi_control("OMPI_MCA_btl") == openmpi_control("btl") == "btl"
    assert openmpi_control("UCX_TLS") is openmpi_control("PRTE_MCA_x") is None
    assert mpich_control("MPICH_X") == mpich_control("MPIR_PARAM_X") == mpich_control("MPIR_CVAR_X") == "MPIR_CVAR_X"
    assert mpich_control("UCX_TLS") is mpich_control("btl") is intel_control("btl") is None
    assert intel_control("I_MPI_FABRICS") == "I_MPI_FABRICS"
    assert names_of_control("The fabrics. @Alias:# I_MPI_FABRICS, I_MPI_DEVICE @Default:# shm:ofi") == [
        "I_MPI_FABRICS",
        "I_MPI_DEVICE",
    ]
    assert names_of_control("Its own name.") == []


@pytest.mark.parametrize(
    ("name", "default", "value", "component"),
    [
        ("coll_sm_priority", "0", "100", "sm"),
        ("coll_ucc_enable", "0", "1", "ucc"),
        ("coll_han_priority", "35", "0", None),
        ("btl_vader_eager_limit", "4096", "8192", None),
    ],
)
def test_a_higher_priority_prefers_a_component(name: str, default: str, value: str, component: str | None) -> None:
    assert preferred_component(name, default, value) == component


def test_lines_that_libraries_print_among_the_variables_are_ignored() -> None:
    lines = [
        "a warning",
        "{ torn",
        "[1]",
        '{"name":"a","type":"int","value":1,"text":"one","description":""}',
        '{"name":"b","type":"other","description":""}',
        '{"environment":"X","everywhere":false}',
        '{"environment":"Y","everywhere":true}',
        '{"collective":"bcast","component":"tuned"}',
        '{"name":"c","type":"string","text":"set","in_force":false,"description":"the name is C"}',
    ]
    taken = read_taken(lines, lambda description: ["C"] if description else [])
    assert taken.texts == {"a": "one", "b": "", "C": "set"}
    assert (taken.numbers, taken.aliases, taken.unforwarded) == ({"a": 1}, {"c": "C"}, ("X",))
    assert taken.components == {"bcast": "tuned"}
    assert taken.verifies("a")
    assert taken.shows("c")
    assert not taken.verifies("c"), "the text is what the environment sets"


@pytest.mark.parametrize(
    ("line", "name", "asked"),
    [  # printed by UCX 1.13 and 1.19, and by Intel MPI 2021.18
        (
            "[1.9] [vm:1:0] parser.c:1908 UCX  WARN  unused env variables: UCX_A,UCX_TSL (set UCX_X=n to …)",
            "UCX_TSL",
            "1",
        ),
        ("parser.c:2355 UCX  WARN  unused environment variable: UCX_TSL (maybe: UCX_TLS?)", "UCX_TSL", "sm"),
        ("MPI startup(): I_MPI_FABRCS environment variable is not supported.", "I_MPI_FABRCS", "ofi"),
        (
            "MPI startup(): bogus fabric is unknown or has been removed from the product, please …",
            "I_MPI_FABRICS",
            "bogus",
        ),
        ("MPI startup(): Incorrect adjust value: BCAST=abc, will be ignored", "I_MPI_ADJUST_BCAST", "abc"),
    ],
)
def test_a_warning_of_the_library_that_names_a_setting_is_a_fault(line: str, name: str, asked: str) -> None:
    taken = read_taken([line], lambda description: ())
    fault = complaint_fault(name, asked, taken)
    assert fault
    assert fault.what.startswith(f"{name}={asked} is not taken: ")
    assert complaint_fault("UCX_TLS", "tcp", taken) is None
