"""How variants are planned: what starts them, which algorithms they have, and the blocks."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.installed import each_kind, every_open_mpi
from timpani.campaign.plan.from_study import plan
from timpani.campaign.plan.plan import CampaignPlan
from timpani.campaign.plan.prepare_variants import prepare_variants
from timpani.campaign.plan.prepared_variant import PreparedVariant, SettingConflictError, check_variant
from timpani.campaign.plan.resources import Resources
from timpani.errors import UserError
from timpani.machine.here.detect import this_computer
from timpani.native.mpi import Mpi
from timpani.providers.available import AvailableAlgorithms
from timpani.study.study import Study
from timpani.study.variant import Variant, parse_variant

OPEN_MPI = Mpi("openmpi", "Open MPI", "5.0.11", Path("/mpi/bin/mpirun"), Path("mpicxx"), None)
MPICH = Mpi("mpich", "MPICH", "4.0.2", Path("/mpich/bin/mpiexec"), Path("mpicxx"), None)


def prepared(text: str, mpi: Mpi = OPEN_MPI) -> PreparedVariant:
    variant = parse_variant(text)
    return PreparedVariant("v", variant, mpi, dict(variant.environment))


def planned(mpi: Mpi, variants: list[str] | dict[str, Any], **values: Any) -> CampaignPlan:
    about = {"collectives": {"bcast": "default"}, "ranks": [2], "sizes": [8], "variants": variants, **values}
    study = Study.check(about, "test")
    available = AvailableAlgorithms.ask(mpi)
    resources = Resources(this_computer(mpi), lambda _: 4, lambda ranks: [(0, 1)])
    return plan(study, available, resources, variants=prepare_variants(study, available))


@each_kind
def test_each_variant_has_separate_starts_in_every_block(mpi: Mpi) -> None:
    found = planned(mpi, ["a: TIMPANI_TEST=1", "b: TIMPANI_TEST=2"], sizes=[8, 64])
    assert [group.variant.name for group in found.groups] == ["default", "a", "b"]
    assert all(len(group.cells) == 2 for group in found.groups)
    orders = {tuple(group.variant.name for group in found.order(block)) for block in range(1, 40)}
    assert len(orders) == 6, "each order of three variants is drawn"
    assert all(sorted(order) == ["a", "b", "default"] for order in orders)
    assert found.launches_needed == planned(mpi, ["a: TIMPANI_TEST=1", "b: TIMPANI_TEST=2"]).launches_needed


@each_kind
def test_a_variable_reaches_the_launcher_and_the_ranks(mpi: Mpi, tmp_path: Path) -> None:
    group = planned(mpi, ["a: TIMPANI_TEST='a b'"]).groups[1]
    command = planned(mpi, ["a: TIMPANI_TEST='a b'"]).command(group, ("true",), tmp_path)
    assert command.environment["TIMPANI_TEST"] == "a b"
    assert any("TIMPANI_TEST" in word for word in command.argv)


@every_open_mpi
def test_variants_keep_the_dimension_of_algorithms(mpi: Mpi) -> None:
    found = planned(mpi, ["no-vader: --mca btl ^vader"], collectives={"bcast": "all"})
    by_variant = {group.variant.name: {cell.cell.algorithm.name for cell in group.cells} for group in found.groups}
    assert by_variant["default"] == by_variant["no-vader"]
    setting = found.settings["bcast"]["binomial@no-vader"]
    assert setting.endswith("--mca btl '^vader'")
    assert setting.startswith("mpirun --mca coll_tuned_use_dynamic_rules 1")
    assert found.settings["bcast"]["default@no-vader"] == "mpirun --mca btl '^vader'"


@every_open_mpi
def test_a_variant_that_chooses_algorithms_shares_no_start_with_those_that_are_forced(mpi: Mpi) -> None:
    found = planned(mpi, ["basic: --mca coll ^tuned"], collectives={"bcast": ["default", "binomial"]})
    groups = [[str(cell.cell.algorithm) for cell in group.cells] for group in found.groups]
    assert groups[-2:] == [["openmpi/default"], ["openmpi/binomial"]]


@each_kind
def test_a_variant_may_measure_other_algorithms_than_the_study(mpi: Mpi) -> None:
    collectives = {"bcast": ["default", "timpani/binomial"], "latency": "default"}
    variants = {"a": {"TIMPANI_TEST": "1", "algorithms": ["default"]}, "b": "TIMPANI_TEST=2"}
    found = planned(mpi, variants, collectives=collectives)
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


def test_lists_of_excluded_components_are_joined() -> None:
    assert prepared("--mca coll ^sm").with_selection((("coll", "^han"),), {}).parameters == (("coll", "^sm,han"),)
    assert prepared("--mca coll ^han").with_selection((("coll", "^han"),), {}).parameters == (("coll", "^han"),)


@pytest.mark.parametrize("text", ["--mca coll tuned,basic", "OMPI_MCA_coll=^sm"])
def test_a_variant_that_forcing_an_algorithm_would_undo_is_refused(text: str) -> None:
    with pytest.raises(SettingConflictError):
        prepared(text).with_selection((("coll", "^han"),), {})


def test_one_library_is_loaded_before_the_other() -> None:
    variant = replace(prepared("X=1"), environment={"LD_PRELOAD": "/a.so"})
    assert variant.with_selection((), {"LD_PRELOAD": "/rules.so"}).environment["LD_PRELOAD"] == "/rules.so:/a.so"
    assert variant.launcher_environment == {}


def test_the_same_setting_by_a_parameter_and_by_its_variable_is_refused() -> None:
    with pytest.raises(UserError, match="sets btl twice, also as OMPI_MCA_btl"):
        check_variant("v", parse_variant("--mca btl ^vader OMPI_MCA_btl=self"), OPEN_MPI)


@pytest.mark.parametrize(
    ("text", "mpi", "line"),
    [
        ("--mca btl ^vader", OPEN_MPI, "mpirun --mca btl '^vader'"),
        ("A='x y' --bind-to none", OPEN_MPI, "A='x y' mpirun --bind-to none"),
        ("MPIR_CVAR_X=1", MPICH, "MPIR_CVAR_X=1 mpiexec"),
        ("--mpi mpich", MPICH, "/mpich/bin/mpiexec"),
        ("--source 'my env.sh' --module a", OPEN_MPI, "module load a && . 'my env.sh' && mpirun"),
        ("--preload /a.so", OPEN_MPI, "mpirun -x LD_PRELOAD=/a.so"),
    ],
)
def test_the_line_that_has_a_variant_is_quoted_for_a_shell(text: str, mpi: Mpi, line: str) -> None:
    assert prepared(text, mpi).setting(None) == line


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: --mpi nowhere", "unknown MPI library 'nowhere'"),
        ("a: --mpi /nowhere/at-all", "not found: /nowhere/at-all"),
        ("a: --source /nowhere.sh", "which is no file"),
        ("a: --preload /nowhere.so", "which is no file"),
    ],
)
@each_kind
def test_missing_files_of_variants_are_reported_before_anything_starts(mpi: Mpi, text: str, said: str) -> None:
    with pytest.raises(UserError) as refused:
        planned(mpi, [text])
    assert said in refused.value.what


@each_kind
def test_a_script_gives_its_variables_and_runs_nothing_that_its_name_holds(mpi: Mpi, tmp_path: Path) -> None:
    script = tmp_path / "x; touch gone; $(touch gone2).sh"
    script.write_text("echo noise\nexport TIMPANI_TEST_VALUE='two words'\n")
    [_, (variant, _)] = prepare_variants(
        Study.check(
            {
                "collectives": {"bcast": "default"},
                "ranks": 2,
                "sizes": 8,
                "variants": {"a": {"source": str(script)}},
            },
            "test",
        ),
        AvailableAlgorithms.ask(mpi),
    )
    assert variant.environment == {"TIMPANI_TEST_VALUE": "two words"}
    assert variant.variant == Variant(source=str(script))
    script.write_text("exit 3\n")
    with pytest.raises(UserError, match="failed"):
        planned(mpi, [f"a: --source '{script}'"])
