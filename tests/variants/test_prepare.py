"""How variants are planned: what starts them, which algorithms they have, and the blocks."""

import os
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.campaign.plan.made_library import LIBRARY
from tests.installed import each_kind
from timpani.campaign.plan.from_study import Resources, plan
from timpani.campaign.plan.plan import CampaignPlan
from timpani.campaign.plan.prepared_variant import PreparedVariant, SettingConflictError, check_variant
from timpani.errors import UserError
from timpani.libraries.available import AvailableAlgorithms
from timpani.libraries.catalogue import Parameters
from timpani.machine.detect import this_computer
from timpani.native.mpi import Mpi
from timpani.study.study import Study
from timpani.study.variant import Variant, parse_variant
from timpani.variants.named import prepare_variants, variant_environment

OPEN_MPI = Mpi("openmpi", "Open MPI", "5.0.11", Path("/mpi/bin/mpirun"), Path("mpicxx"), None)
MPICH = Mpi("mpich", "MPICH", "4.0.2", Path("/mpich/bin/mpiexec"), Path("mpicxx"), None)


def prepared(text: str, mpi: Mpi = OPEN_MPI) -> PreparedVariant:
    variant = parse_variant(text)
    return PreparedVariant("v", variant, mpi, dict(variant.environment))


def planned(
    variants: list[str] | dict[str, Any], available: AvailableAlgorithms = LIBRARY, **values: Any
) -> CampaignPlan:
    about = {"collectives": {"bcast": "default"}, "ranks": [2], "sizes": [8], "variants": variants, **values}
    study = Study.check(about, "test")
    resources = Resources(this_computer(available.mpi), lambda _: 4, lambda ranks: [(0, 1)])
    return plan(study, available, resources, variants=prepare_variants(study, available))


def test_each_variant_has_separate_starts_in_every_block() -> None:
    found = planned(["a: TIMPANI_TEST=1", "b: TIMPANI_TEST=2"], sizes=[8, 64])
    assert [group.variant.name for group in found.groups] == ["default", "a", "b"]
    assert all(len(group.cells) == 2 for group in found.groups)
    orders = {tuple(group.variant.name for group in found.order(block)) for block in range(1, 40)}
    assert len(orders) == 6, "each order of three variants is drawn"
    assert all(sorted(order) == ["a", "b", "default"] for order in orders)
    assert found.launches_needed == planned(["a: TIMPANI_TEST=1", "b: TIMPANI_TEST=2"]).launches_needed


def test_variants_keep_the_dimension_of_algorithms() -> None:
    found = planned(["no-vader: --mca btl ^vader"], collectives={"bcast": "all"})
    by_variant = {group.variant.name: {cell.cell.algorithm.name for cell in group.cells} for group in found.groups}
    assert by_variant["default"] == by_variant["no-vader"]
    setting = found.settings["bcast"]["binomial@no-vader"]
    assert setting.startswith(f"{found.settings['bcast']['default@no-vader']} --mca coll_tuned_use_dynamic_rules 1")
    assert found.settings["bcast"]["default@no-vader"].endswith("mpirun --mca btl '^vader'")


@each_kind
def test_the_line_starts_ranks_in_the_environment_of_the_variant(mpi: Mpi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIMPANI_RULES", "removed from all starts")
    line = planned(["a: TIMPANI_TEST='a b'"], AvailableAlgorithms.ask(mpi)).settings["bcast"]["default@a"]
    as_root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    done = subprocess.run(
        ["bash", "-c", f"{line} -n 1 env"], capture_output=True, text=True, check=True, env={**os.environ, **as_root}
    )
    found = done.stdout.splitlines()
    assert "TIMPANI_TEST=a b" in found
    assert not any(each.startswith("TIMPANI_RULES=") for each in found)


def test_a_variant_that_chooses_algorithms_shares_no_start_with_those_that_are_forced() -> None:
    found = planned(["basic: --mca coll ^tuned"], collectives={"bcast": ["default", "binomial"]})
    groups = [[str(cell.cell.algorithm) for cell in group.cells] for group in found.groups]
    assert groups[-2:] == [["openmpi/default"], ["openmpi/binomial"]]


def test_a_variant_may_measure_other_algorithms_than_the_study() -> None:
    collectives = {"bcast": ["default", "timpani/binomial"], "latency": "default"}
    variants = {"a": {"TIMPANI_TEST": "1", "algorithms": ["default"]}, "b": "TIMPANI_TEST=2"}
    found = planned(variants, collectives=collectives)
    measured = {
        name: {
            f"{cell.cell.collective} {cell.cell.algorithm.name}"
            for group in found.groups
            for cell in group.cells
            if cell.cell.algorithm.variant == name
        }
        for name in ("default", "a", "b")
    }
    assert measured["default"] == measured["b"] == {"bcast default", "bcast binomial", "latency default"}
    assert measured["a"] == {"bcast default", "latency default"}


@pytest.mark.parametrize("text", ["--mca coll tuned,basic", "OMPI_MCA_coll=^sm"])
def test_a_variant_that_forcing_an_algorithm_would_undo_is_refused(text: str) -> None:
    with pytest.raises(SettingConflictError):
        prepared(text).with_selection((("coll", "^han"),), {})


def test_the_same_setting_by_a_parameter_and_by_its_variable_is_refused() -> None:
    with pytest.raises(UserError, match="sets btl twice, also as OMPI_MCA_btl"):
        check_variant("v", parse_variant("--mca btl ^vader OMPI_MCA_btl=self"), OPEN_MPI)


@pytest.mark.parametrize(
    ("text", "mpi", "line"),
    [
        ("--mca btl ^vader", OPEN_MPI, "/mpi/bin/mpirun --mca btl '^vader'"),
        ("A='x y' --bind-to none", OPEN_MPI, "A='x y' /mpi/bin/mpirun -x 'A=x y' --bind-to none"),
        ("A=1 MPIR_CVAR_X=1", MPICH, "A=1 MPIR_CVAR_X=1 /mpich/bin/mpiexec"),
        ("--source '/my env.sh' --module a", OPEN_MPI, "module load a && . '/my env.sh' && /mpi/bin/mpirun"),
    ],
)
def test_the_line_that_has_a_variant_is_quoted_for_a_shell(text: str, mpi: Mpi, line: str) -> None:
    assert prepared(text, mpi).setting("", (), {}) == line


BINOMIAL = (("coll_tuned_use_dynamic_rules", "1"), ("coll", "^han"), ("coll_tuned_bcast_algorithm", "6"))


@pytest.mark.parametrize(
    ("text", "mpi", "parameters", "line"),
    [
        (
            "--mpi openmpi --mca coll ^sm",
            OPEN_MPI,
            BINOMIAL,
            "/mpi/bin/mpirun --mca coll '^sm,han' --mca coll_tuned_use_dynamic_rules 1 "
            "--mca coll_tuned_bcast_algorithm 6",
        ),
        (
            "--mpi mpich FI_PROVIDER=tcp",
            MPICH,
            (("MPIR_CVAR_BCAST_INTRA_ALGORITHM", "binomial"),),
            "FI_PROVIDER=tcp MPIR_CVAR_BCAST_INTRA_ALGORITHM=binomial /mpich/bin/mpiexec",
        ),
        ("--mca coll tuned,basic", OPEN_MPI, BINOMIAL, None),
    ],
)
def test_the_line_has_the_library_and_the_settings_of_variant_and_algorithm(
    text: str, mpi: Mpi, parameters: Parameters, line: str | None
) -> None:
    assert prepared(text, mpi).setting("", parameters, {}) == line


def test_the_line_removes_what_launches_go_without() -> None:
    users = {"OMPI_MCA_coll": "^han", "UCX_TLS": "tcp", "GONE": "1"}
    kept = {"OMPI_MCA_mca_base_param_files": "none"}
    variant = replace(prepared("--mca btl ^vader --source /a.sh"), unset=frozenset({"GONE"}))
    assert variant.without(users) == ("OMPI_MCA_coll", "GONE")
    assert variant.setting("", (), users) == ". /a.sh && env -u OMPI_MCA_coll /mpi/bin/mpirun --mca btl '^vader'"
    clean = replace(variant, environment=kept, clean=kept)
    assert clean.without(users) == ("OMPI_MCA_coll", "UCX_TLS", "GONE")
    assert clean.setting("", (), users) == (
        ". /a.sh && env -u OMPI_MCA_coll -u UCX_TLS OMPI_MCA_mca_base_param_files=none "
        "/mpi/bin/mpirun --mca btl '^vader'"
    )


def test_a_preloaded_library_goes_before_what_the_user_and_the_script_load(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library, script = tmp_path / "a.so", tmp_path / "a.sh"
    library.touch()
    script.write_text("export LD_PRELOAD=libdl.so.2\n")
    monkeypatch.setenv("LD_PRELOAD", "libm.so.6")
    for text, loaded in (
        (f"--preload {library}", f"{library}:libm.so.6"),
        (f"--preload {library} --source {script}", f"{library}:libdl.so.2"),
    ):
        environment, _ = variant_environment("v", parse_variant(text))
        assert environment["LD_PRELOAD"] == loaded
        variant = PreparedVariant("v", replace(parse_variant(text), source=""), OPEN_MPI, environment)
        assert variant.setting("", (), {}) == f"/mpi/bin/mpirun -x LD_PRELOAD={loaded}"


@pytest.mark.parametrize(
    ("text", "said"),
    [("a: --mpi /nowhere/at-all", "not found: /nowhere/at-all"), ("a: --source /nowhere.sh", "which is no file")],
)
def test_missing_files_of_variants_are_reported_before_anything_starts(text: str, said: str) -> None:
    with pytest.raises(UserError) as refused:
        planned([text])
    assert said in refused.value.what


def test_a_script_sets_and_removes_variables_and_runs_nothing_that_its_name_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "x; touch gone; $(touch gone2).sh"
    script.write_text("echo noise\nexport TIMPANI_TEST_VALUE='two words'\nunset TIMPANI_TEST_GONE\n")
    monkeypatch.setenv("TIMPANI_TEST_GONE", "1")
    [_, (variant, _)] = prepare_variants(
        Study.check(
            {"collectives": {"bcast": "default"}, "ranks": 2, "sizes": 8, "variants": {"a": {"source": str(script)}}},
            "test",
        ),
        LIBRARY,
    )
    assert variant.environment == {"TIMPANI_TEST_VALUE": "two words"}
    assert variant.unset == {"TIMPANI_TEST_GONE"}
    assert variant.variant == Variant(source=str(script))
    script.write_text("exit 3\n")
    with pytest.raises(UserError, match="failed"):
        planned([f"a: --source '{script}'"])
