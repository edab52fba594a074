"""Campaigns with variants on a real library: what is in force, what is refused, what fails, what is recorded."""

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.campaign.live import timpani
from tests.installed import INTEL, MPICHS, OPEN_MPIS, needs_intel, needs_mpich, needs_open_mpi, needs_two_cores
from timpani.campaign.folder.header import read_header
from timpani.campaign.folder.load import load
from timpani.native.cache import cache_folder

pytestmark = [needs_open_mpi, needs_two_cores]

NO_VADER = "no-vader: --mca btl ^vader"


def run(folder: Path, *options: str, env: Mapping[str, str] | None = None) -> "CompletedProcess[str]":
    common = ("--algorithms", "default", "--ranks", "2", "--sizes", "8", "--launches", "2", "--slot", "5ms")
    library = () if "--mpi" in options else ("--mpi", str(OPEN_MPIS[0].mpirun))
    return timpani("run", "bcast", *common, *library, *options, "-o", folder, env=env)


def test_variants_are_measured_in_blocks_recorded_and_continued(tmp_path: Path) -> None:
    folder = tmp_path / "c"
    done = run(folder, "--variant", NO_VADER, "--variant", "again: TIMPANI_TEST='a b' FI_PROVIDER=tcp")
    assert done.returncode == 0, done.stderr
    campaign = load(folder)
    labels = {"default", "default@no-vader", "default@again"}
    by_block = campaign.results.group_by("launch").agg("variant").sort("launch")
    assert [sorted(each) for each in by_block["variant"].to_list()] == [["again", "default", "no-vader"]] * 2
    assert {launch["variant"] for launch in campaign.launches} == {"again", "default", "no-vader"}
    recorded = read_header(folder).variants
    assert recorded is not None
    changed = {each.name: each.value for each in recorded["no-vader"].changed or ()}
    assert changed["btl"] == "^vader"
    assert (recorded["again"].changed, recorded["again"].unchecked) == ((), ("TIMPANI_TEST", "FI_PROVIDER"))
    shown = timpani("show", folder, "--format", "json")
    assert {row["label"] for row in json.loads(shown.stdout)} == labels
    before = (folder / "results.jsonl").read_bytes()
    assert run(folder, "--variant", NO_VADER, "--variant", "again: TIMPANI_TEST='a b' FI_PROVIDER=tcp").returncode == 0
    assert (folder / "results.jsonl").read_bytes() == before
    other = run(folder, "--variant", "no-vader: --mca btl ^tcp")
    assert other.returncode == 2
    assert "variants differs" in other.stderr


@pytest.mark.parametrize(
    ("variant", "said"),
    [
        ("a: --mca btl ^vadr", "has no component vadr for btl; did you mean vader?"),
        ("a: --no-such-option", "variant 'a' can't start"),
        ("a: --bind-to none", "variant 'a' asks for ranks by core, and they run elsewhere: requested a separate core"),
        # words of the launcher that start the program by a wrapper, which drops the variable
        ("a: A=1 B=2 --report-bindings env -u B", "the launcher does not forward B to all ranks"),
        (
            "a: --mca coll_han_priority 100",
            "component han is preferred, and runs none of the measured collectives (bcast: tuned)",
        ),
    ],
)
def test_a_setting_that_is_not_in_force_is_named_before_anything_is_measured(
    tmp_path: Path, variant: str, said: str
) -> None:
    refused(tmp_path / "c", variant, said)


@needs_mpich
@pytest.mark.parametrize(("variant", "said"), [("a: --mca btl tcp", "MPICH has no parameters, and ignores btl")])
def test_a_setting_that_mpich_does_not_take_is_named(tmp_path: Path, variant: str, said: str) -> None:
    refused(tmp_path / "c", variant, said, "--mpi", str(MPICHS[0].mpirun))


@needs_intel
@pytest.mark.parametrize(
    ("variant", "said"),
    [
        ("a: I_MPI_FABRICS=bogus", "bogus fabric is unknown"),
        ("a: I_MPI_SHM_CELL_FWD_NUM=abc", "Invalid character a in I_MPI_SHM_CELL_FWD_NUM"),
    ],
)
def test_a_setting_that_intel_mpi_does_not_take_is_named(tmp_path: Path, variant: str, said: str) -> None:
    refused(tmp_path / "c", variant, said, "--mpi", str(INTEL / "bin" / "mpiexec.hydra"))


def refused(folder: Path, variant: str, said: str, *options: str) -> None:
    """Check that nothing is measured, and that one line says why."""
    done = run(folder, "--variant", variant, *options)
    assert done.returncode == 2
    [line] = [line for line in done.stderr.splitlines() if "variant 'a'" in line]
    assert said in line
    assert not folder.exists()


def test_a_setting_that_a_script_exports_is_checked(tmp_path: Path) -> None:
    script = tmp_path / "site.sh"
    script.write_text("export OMPI_MCA_btl_tcp_links=many OMPI_MCA_sites_own=1\n")
    refused(tmp_path / "c", f"a: --source {script}", "OMPI_MCA_btl_tcp_links=many is not in force")
    script.write_text("export OMPI_MCA_btl_tcp_links=2 OMPI_MCA_sites_own=1\n")
    done = run(tmp_path / "c", "--variant", f"a: --source {script}")
    assert done.returncode == 0, done.stderr
    recorded = read_header(tmp_path / "c").variants
    assert recorded is not None
    assert recorded["a"].unchecked == ("OMPI_MCA_sites_own",)
    assert "btl_tcp_links" in {each.name for each in recorded["a"].changed or ()}


def test_members_of_a_group_that_cannot_compete_are_left_out_with_the_reason(tmp_path: Path) -> None:
    done = run(tmp_path / "c", "--variants", "components", "--variants", "transports")
    assert done.returncode == 0, done.stderr
    left_out = "left out of --variants: variant "
    assert f"{left_out}'han': component han is preferred, and runs none" in done.stderr
    assert f"{left_out}'ofi' can't start" in done.stderr, "the layer has no messages between two processes"
    recorded = read_header(tmp_path / "c").variants
    assert recorded is not None
    assert {"default", "sm", "basic", "adapt", "tcp"} <= set(recorded)
    assert [recorded[name].components for name in ("default", "sm")] == [{"bcast": "tuned"}, {"bcast": "sm"}]
    assert not {"han", "ofi"} & set(recorded)


def test_starts_go_without_the_variables_that_a_script_or_a_module_removes(tmp_path: Path) -> None:
    variable = "OMPI_MCA_btl_vader_eager_limit"
    (tmp_path / "env.sh").write_text(f"unset {variable}\n")
    (tmp_path / ".bash_profile").write_text(  # login shells may begin with another PATH, and another `module`
        f'PATH="$TIMPANI_TEST_PATH"; unset BASH_ENV; module() {{ [ "$*" = "load plain" ] && unset {variable}; }}\n'
    )
    environment = {
        **os.environ,
        "HOME": str(tmp_path),
        "XDG_CACHE_HOME": str(cache_folder().parent),
        "TIMPANI_TEST_PATH": os.environ["PATH"],
        variable: "8192",
    }
    variants = ("--variant", f"script: --source {tmp_path}/env.sh", "--variant", "module: --module plain")
    done = run(tmp_path / "c", *variants, env=environment)
    assert done.returncode == 0, done.stderr
    campaign = load(tmp_path / "c")
    recorded = campaign.header.variants
    assert recorded is not None
    for name in ("script", "module"):
        changed = {each.name: (each.default, each.value) for each in recorded[name].changed or ()}
        assert changed["btl_vader_eager_limit"] == ("8192", "4096")
        assert all(variable in each["without"] for each in campaign.launches if each["variant"] == name)
    assert not any(variable in each["without"] for each in campaign.launches if each["variant"] == "default")


def planted(folder: Path, includes: str, at_start: str) -> Path:
    """A library to preload whose C code runs at the start of each process of the measuring program, and of no other."""
    library, source = folder / "planted.so", folder / "planted.c"
    source.write_text(
        f"{includes}#include <string.h>\n"
        "extern char *program_invocation_short_name;\n"
        "__attribute__((constructor)) static void start(void) {\n"
        f'    if (strcmp(program_invocation_short_name, "timpani-measure") == 0) {{ {at_start} }}\n}}\n'
    )
    subprocess.run([str(shutil.which("cc")), "-shared", "-fPIC", "-o", library, source], check=True)
    return library


def test_a_variant_that_fails_in_some_launches_is_measured_in_the_others(tmp_path: Path) -> None:
    # Rank 0 ends in two starts of three, since a failed start is repeated; folders count the starts.
    library = planted(
        tmp_path,
        "#include <stdio.h>\n#include <stdlib.h>\n#include <sys/stat.h>\n",
        'char name[4096]; int number = 0; if (strcmp(getenv("OMPI_COMM_WORLD_RANK"), "0") != 0) return; '
        f'do snprintf(name, sizeof name, "{tmp_path}/start-%d", ++number); while (mkdir(name, 0700) != 0); '
        'if (number % 3 != 1) { puts("planted"); exit(9); }',
    )
    done = run(tmp_path / "c", "--variant", f"fails: --preload {library}", "--launches", "6")
    results = load(tmp_path / "c").results
    assert results.filter(variant="default")["error"].null_count() == 6, done.stderr
    errors = dict(results.filter(variant="fails").select("launch", "error").iter_rows())
    assert {launch for launch, error in errors.items() if error is None} == {1, 3}
    assert all("before its cells: planted" in errors[launch] for launch in (2, 4))
    reported = [line.partition(" failed: ")[2] for line in done.stderr.splitlines() if " failed: " in line]
    reason = "ended with status 9 before its cells: planted"
    assert reported == [f"bcast default@fails, 2 ranks, 8 B, launch {launch}: {reason}" for launch in (2, 4)]
