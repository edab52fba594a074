"""Which settings a library took, by what its running program shows."""

import pytest

from timpani.campaign.run.variant_check import first_sentence, read_taken
from timpani.libraries.mpich.settings import control as mpich_control
from timpani.libraries.openmpi.installed import control as openmpi_control
from timpani.libraries.taken_settings import InstalledSettings, TakenSettings, setting_fault

TAKEN = TakenSettings(
    {"btl": "^vader", "limit": "65536", "copy": "cma", "on": "1", "DEVICE": "2"},
    {"copy": 1, "DEVICE": 2},
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
        ("limit", "64k"),
        ("copy", "cma"),
        ("copy", "1"),
        ("on", "true"),
        ("on", "1"),
        ("DEVICE", "percoll"),
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
        ("copy", "2", "copy=2 is not in force"),
        ("on", "no", "on=no is not in force"),
        ("DEVICE", "1", "DEVICE=1 is not in force"),
    ],
)
def test_a_wrong_name_component_or_value_is_named(name: str, asked: str, said: str) -> None:
    assert said in fault(name, asked)


def test_variables_lead_to_the_control_variables_that_they_set() -> None:
    assert openmpi_control("OMPI_MCA_btl") == openmpi_control("btl") == "btl"
    assert openmpi_control("UCX_TLS") is openmpi_control("PRTE_MCA_x") is None
    assert mpich_control("MPICH_X") == mpich_control("MPIR_PARAM_X") == mpich_control("MPIR_CVAR_X") == "MPIR_CVAR_X"
    assert mpich_control("UCX_TLS") is None


def test_lines_that_libraries_print_among_the_variables_are_ignored() -> None:
    lines = [
        "a warning",
        "{ torn",
        "[1]",
        '{"name":"a","type":"int","value":1,"text":"one","description":""}',
        '{"name":"b","type":"other","description":""}',
        '{"environment":"X","everywhere":false}',
        '{"environment":"Y","everywhere":true}',
    ]
    assert read_taken(lines) == TakenSettings({"a": "one", "b": ""}, {"a": 1}, ("X",))


def test_the_first_sentence_of_a_failed_start_is_reported() -> None:
    assert first_sentence(b'-----\n{"name":1}\nAn invalid value was supplied\nfor a variable.\nMore.\n') == (
        "An invalid value was supplied for a variable."
    )
