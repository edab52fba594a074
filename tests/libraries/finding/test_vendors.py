"""Vendors' libraries: what real ones report, from public records, and an MPICH that reports as one of them does.

The texts of MPI_Get_library_version come from these repositories on GitHub:

    MPI.jl   JuliaParallel/MPI.jl, lib/MPIPreferences/src/MPIPreferences.jl and docs (commit f4b35ac8)
    e4s-cl   E4S-Project/e4s-cl, its tests of version detection
    mpi4py   mpi4py/mpi4py, src/pympivendor.h
    psmpi    ParaStation/psmpi, configure.ac (the device psp) and mpich2/src/mpi/init/initinfo.c (commit 08346858)
"""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.installed import MPICHS, needs_mpich
from timpani.errors import UserError
from timpani.libraries.find import Unusable, choose_mpi, find_mpis, search_mpis
from timpani.libraries.library import Host, LaunchRequest
from timpani.libraries.registry import LIBRARIES
from timpani.libraries.vendors import VENDORS
from timpani.machine.detect import this_computer
from timpani.native.library_version import LibraryVersion
from timpani.native.mpi import Mpi
from timpani.study.variant import parse_variants

MPICH = Mpi("mpich", "MPICH", "3.4.3", Path("/v/bin/mpiexec"), Path("/v/bin/mpicxx"), None)
OPEN_MPI = Mpi("openmpi", "Open MPI", "4.1.7", Path("/v/bin/mpirun"), Path("/v/bin/mpicxx"), None)

CRAY = "MPI VERSION    : CRAY MPICH version 8.1.25.17 (ANL base 3.4a2)\nMPI BUILD INFO : Sun Feb 26 16:42 2023\n"
MVAPICH2 = "MVAPICH2 Version      :\t2.3.6\nMVAPICH2 Release date :\tMon March 29 22:00:00 EST 2021\n"
MVAPICH = "MVAPICH Version:\t3.0\nMVAPICH Release date:\t…\n"
PARASTATION = "MPICH Version:      4.3.0\nMPICH Release date: …\nMPICH ABI:          17:0:5\nMPICH Device:       psp\n"
SPECTRUM = "Open MPI v10.3.1.03rtm0, package: IBM Spectrum MPI, ident: IBM Spectrum MPI [...]"
OLD_SPECTRUM = (
    "Open MPI v3.1.0, package: IBM Spectrum MPI, ident: 10.03.01.00rtm0, repo rev: IBM_SPECTRUM_MPI_10.03.01.00"
)
FUJITSU = "FUJITSU MPI Library 4.0.0 (4.0.1fj4.0.0)"


def recognized(found: Mpi, text: str, **header: str) -> Mpi:
    """The one vendor's library that `text` is of."""
    reported = LibraryVersion(text, header)
    every = [each.recognized(found, reported) for each in VENDORS if each.parent == found.kind]
    (only,) = filter(None, every)
    return only


@pytest.mark.parametrize(
    ("found", "text", "header", "title"),
    [
        (MPICH, CRAY, {"MPICH_VERSION": "3.4a2"}, "Cray MPICH 8.1.25.17, based on MPICH 3.4a2"),
        (MPICH, MVAPICH, {"MPICH_VERSION": "3.4.3"}, "MVAPICH 3.0, based on MPICH 3.4.3"),
        (MPICH, MVAPICH, {"MPICH_VERSION": "3.0"}, "MVAPICH 3.0, based on MPICH of an unknown version"),
        (OPEN_MPI, SPECTRUM, {"OMPI_VERSION": "10.3.1"}, "IBM Spectrum MPI 10.3.1.03rtm0, based on Open MPI of an"),
        (OPEN_MPI, OLD_SPECTRUM, {}, "IBM Spectrum MPI 10.03.01.00rtm0, based on Open MPI 3.1.0"),
        (OPEN_MPI, FUJITSU, {}, "Fujitsu MPI 4.0.0, based on Open MPI 4.0.1"),
    ],
)
def test_a_library_is_recognized_by_what_it_reports(found: Mpi, text: str, header: dict[str, str], title: str) -> None:
    assert recognized(found, text, **header).title.startswith(title)


def test_parastation_is_recognized_by_its_device_and_versioned_by_its_file(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    found = replace(MPICH, wrapper=tmp_path / "bin/mpicxx")
    title = recognized(found, PARASTATION, MPICH_VERSION="4.3.0").title
    assert title == "ParaStation MPI of an unknown version, based on MPICH 4.3.0"
    (tmp_path / "VERSION.psmpi").write_text("5.13.0-1\n")
    assert recognized(found, PARASTATION, MPICH_VERSION="4.3.0").version == "5.13.0-1"


@pytest.mark.parametrize(
    "text", ["MPICH Version:\t3.4.2\nMPICH Device:\tch3:nemesis\n", "", "Intel(R) MPI Library 2021"]
)
def test_other_libraries_are_no_vendors(text: str) -> None:
    assert not any(each.recognized(MPICH, LibraryVersion(text, {})) for each in VENDORS)


def test_crays_own_collectives_are_variants_that_no_control_variable_must_confirm() -> None:
    mpi = recognized(MPICH, CRAY)
    offered = LIBRARIES[mpi.kind].algorithms.offered_variants(mpi)["components"]
    variants = parse_variants(offered.texts)
    assert dict(variants["mpich-collectives"].environment) == {
        "MPICH_COLL_OPT_OFF": "1",
        "MPICH_SHARED_MEM_COLL_OPT": "0",
    }
    assert not offered.left_out
    control = LIBRARIES["cray"].settings.control
    assert [control(name) for each in variants.values() for name, _ in each.environment] == [None] * 6
    assert control("MPIR_CVAR_BCAST_INTRA_ALGORITHM") == "MPIR_CVAR_BCAST_INTRA_ALGORITHM"


@pytest.mark.parametrize(
    ("placement", "hosts", "oversubscribed", "words"),
    [
        ("core", (), False, "-n 4 --cpu-bind core"),
        ("node", ("n1", "n2"), False, "--hosts n1,n2 -n 4 --ppn 1 --cpu-bind core"),
    ],
)
def test_pals_starts_crays_ranks(placement: str, hosts: tuple[str, ...], oversubscribed: bool, words: str) -> None:
    mpi = replace(recognized(MPICH, CRAY), mpirun=Path("/pals/bin/mpiexec"))
    request = LaunchRequest(
        *(4, placement, oversubscribed, (("MPIR_CVAR_X", "1"),), {"A": "2"}, ("./a.out", "3")),
        hosts=tuple(map(Host, hosts)),
        arguments=("--line-buffer",),
    )
    started = LIBRARIES["cray"].launcher.command(mpi, request)
    assert started.argv == ("/pals/bin/mpiexec", *words.split(), "--line-buffer", "./a.out", "3")
    assert started.environment == {"MPIR_CVAR_X": "1", "A": "2"}


# A library whose programs find another text: by one that is linked before it.

_SHIM = """
#include <string.h>
int MPI_Get_library_version(char* text, int* length) {{
    strcpy(text, "{text}");
    *length = (int)strlen(text);
    return 0;
}}
"""


def renamed(mpi: Mpi, folder: Path, text: str, compiler: str = "mpicxx") -> Path:
    """A folder with a compiler for whose programs MPI_Get_library_version returns `text`, and with what else of `mpi`
    lies next to its compiler."""
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / "shim.c"
    source.write_text(_SHIM.format(text=text.replace("\n", "\\n").replace("\t", "\\t")))
    subprocess.run(["cc", "-shared", "-fPIC", source, "-o", folder / "librenamed.so"], check=True)
    here = '"${0%/*}"'
    options = f"-L{here} -Wl,--no-as-needed -lrenamed -Wl,-rpath,{here}"
    script(folder / compiler, f'exec "{mpi.cxx}" "$@" {options}')
    os.utime(folder / compiler, (0, 0))  # ccache takes it for the compiler of the last run
    if mpi.info:
        script(folder / mpi.info.name, f'exec "{mpi.info}" "$@"')
    return folder


def script(path: Path, command: str) -> None:
    path.write_text(f"#!/bin/sh\n{command}\n")
    path.chmod(0o755)


@needs_mpich
def test_a_cray_has_a_compiler_and_no_launcher(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = renamed(MPICHS[0], tmp_path / "bin", CRAY, compiler="CC")
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("cc", "c++", "g++", "as", "ld", "sh"):
        (tools / name).symlink_to(f"/usr/bin/{name}")
    monkeypatch.setenv("PATH", os.pathsep.join(map(str, (folder, tools))))
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert search_mpis() == []  # any system may have a program called CC
    monkeypatch.setenv("CRAY_MPICH_DIR", "/opt/cray/pe/mpich/8.1.25")
    (none,) = search_mpis()
    assert isinstance(none, Unusable)
    assert none.why.startswith("Cray MPICH 8.1.25.17, based on MPICH 3.4a2 (")
    with pytest.raises(UserError, match="has no launcher here: no mpirun or mpiexec in its folder, no srun on PATH"):
        choose_mpi("cray")
    script(tools / "srun", "exit 1")
    (found,) = find_mpis()
    assert (found.kind, found.mpirun, found.cxx) == ("cray", tools / "srun", folder / "CC")
    with pytest.raises(UserError, match=r"no MPICH found .*; `--mpi cray` selects Cray MPICH 8.1.25.17, based on"):
        choose_mpi("mpich")
    assert choose_mpi(str(tools / "srun")) == choose_mpi(str(folder / "CC")) == found
    script(folder / "cc", "exit 1")
    assert choose_mpi(str(folder / "cc")) == found
    assert this_computer(found).launcher == "slurm"
    pals = tmp_path / "pals/1.2/bin"
    pals.mkdir(parents=True)
    script(pals / "mpiexec", "exit 1")
    monkeypatch.setenv("PATH", os.pathsep.join(map(str, (pals, folder, tools))))
    (by_pals,) = find_mpis()
    assert by_pals.mpirun == pals / "mpiexec"
    assert this_computer(by_pals).launcher == "cray"
