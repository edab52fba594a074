"""Intel MPI's presets and variables, from what it prints and, where it is installed, from itself."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cli.typed import typed
from tests.installed import INTEL, needs_intel, needs_two_cores
from tests.libraries.counted import ran
from tests.libraries.test_mpich_tree import spans
from timpani.campaign.folder.load import load
from timpani.libraries.catalogue import Catalogue
from timpani.libraries.find import choose_mpi
from timpani.libraries.intel import read_presets
from timpani.libraries.intel.adjust_file import AdjustFile
from timpani.libraries.library import LaunchRequest
from timpani.libraries.registry import LIBRARIES
from timpani.native.build import build
from timpani.native.mpi import Mpi
from timpani.study.cell import Algorithm
from timpani.study.selection import ALL, Call, Rule, SelectionTable, Span

LISTED = """\
I_MPI_ADJUST_BCAST
  MPI Datatype:
    MPI_CHAR
  Description:
    Controls bcast algorithm
    range: 0-3
I_MPI_ADJUST_BCAST_LIST
  MPI Datatype:
    MPI_CHAR
I_MPI_ADJUST_REDUCE_SCATTER_BLOCK
  Description:
    range: 0-1
I_MPI_ADJUST_IBCAST
    range: 0-9
"""


def test_presets_are_numbers_and_0_is_the_librarys_choice() -> None:
    presets = read_presets(LISTED)
    assert {name: [info.value for info in infos] for name, infos in presets.items()} == {
        "bcast": ["1", "2", "3"],
        "reduce_scatter_block": ["1"],
    }
    assert [info.name for info in presets["bcast"]] == ["preset_1", "preset_2", "preset_3"]


@needs_intel
def test_the_library_lists_its_presets() -> None:
    mpi = choose_mpi(str(INTEL))
    catalogue = LIBRARIES["intel"].algorithms.catalogue(mpi)
    assert {"bcast", "allreduce", "alltoallv", "scatterv", "barrier"} <= set(catalogue.algorithms)
    chosen = catalogue.resolve("bcast", Algorithm.parse("intel/3"))
    info = catalogue.info("bcast", chosen)
    assert info is not None
    assert LIBRARIES["intel"].settings.setting(mpi, info, chosen) == (("I_MPI_ADJUST_BCAST", "3"),)


@needs_intel
@needs_two_cores
def test_presets_are_measured_with_the_default_and_timpanis_algorithms(tmp_path: Path) -> None:
    done = typed(
        *("run", "bcast", "--algorithms", "default,3,timpani/binomial", "--sizes", "8", "--launches", "1"),
        *("--slot", "0.1", "--mpi", str(INTEL), "-o", str(tmp_path / "campaign")),
    )
    assert done.returncode == 0, done.stderr
    campaign = load(tmp_path / "campaign")
    assert set(campaign.results["algorithm"]) == {"default", "preset_3", "binomial"}
    assert campaign.results["error"].null_count() == 3
    forced = [start for start in campaign.launches if "I_MPI_ADJUST_BCAST" in start["command"]]
    assert [start["command"][start["command"].index("I_MPI_ADJUST_BCAST") + 1] for start in forced] == ["3"]


CATALOGUE = Catalogue("intel", "2021.18", read_presets(LISTED))
MPI = Mpi("intel", "Intel MPI", "2021.18", Path("mpiexec.hydra"), Path("mpigxx"), None)
FILE = AdjustFile()


def written(*rules: Rule) -> str:
    return FILE.write(SelectionTable("intel", "2021.18", rules), CATALOGUE, MPI).text


def preset(number: int) -> Algorithm:
    return Algorithm("intel", f"preset_{number}")


SIZES = st.integers(0, 2**31)
rules = st.builds(
    Rule,
    st.just("bcast"),
    st.builds(preset, st.integers(1, 4)),
    ranks=st.just(ALL) | spans(st.integers(1, 9), 5000),
    nodes=st.sampled_from((ALL, Span(1, 1))),
    per_node=st.sampled_from((ALL, Span(2, 2))),
    sizes=spans(SIZES, 5000),
)


@settings(max_examples=200, deadline=None)
@given(st.lists(rules, max_size=5), st.lists(st.tuples(st.integers(1, 20), SIZES), min_size=20, max_size=20))
def test_the_file_decides_as_the_table_does(given_rules: list[Rule], asked: list[tuple[int, int]]) -> None:
    table = SelectionTable("intel", "2021.18", tuple(given_rules))
    file = FILE.write(table, CATALOGUE, MPI)
    choice = FILE.read(file.text, CATALOGUE)
    edges = {
        edge + by for rule in given_rules for edge in (rule.sizes.first, rule.sizes.last or 0) for by in (-1, 0, 1)
    }
    for ranks, size in [*asked, *((2, edge) for edge in edges if edge >= 0)]:
        call = Call("bcast", ranks, 1, ranks, size)
        assert choice.decide(call) == file.said.decide(call)
        if not file.left_out:
            assert choice.decide(call) == table.decide(call)
    assert list(FILE.lint(file.text, CATALOGUE, MPI)) == []


def test_a_rule_depends_on_sizes_or_ranks_but_not_both() -> None:
    two, four = (Rule("bcast", preset(n), ranks=Span(n, n), sizes=Span(8, 16)) for n in (2, 3))
    file = FILE.write(SelectionTable("intel", "2021.18", (two, four)), CATALOGUE, MPI)
    assert file.said.rules == ()
    assert all("not both" in each.why for each in file.left_out)
    assert "@2-2" in written(*(Rule("bcast", preset(n), ranks=Span(n, n)) for n in (2, 3)))
    alone = FILE.write(SelectionTable("intel", "2021.18", (two,)), CATALOGUE, MPI)
    assert [each.why for each in alone.left_out] == [
        "a variable can distinguish sizes or ranks, not both: it holds for every number of ranks"
    ]


@pytest.mark.parametrize(
    ("value", "size", "chosen"),
    [
        ("1:0-1000", 5000, 1),
        ("1:20000-30000", 8, 1),
        ("1:0-100;2:50-200", 60, 1),
        ("9:0-100", 60, None),
        ("1:0-20@2-2;2:21-2147483647@2-2", 8, 2),
    ],
)
def test_values_mean_what_the_library_was_seen_to_do(value: str, size: int, chosen: int | None) -> None:
    choice = FILE.read(f"export I_MPI_ADJUST_BCAST='{value}'\n", CATALOGUE)
    assert choice.decide(Call("bcast", 2, 1, 2, size)) == (preset(chosen) if chosen else None)


TRAPS = {
    "export I_MPI_ADJUST_BCAST='9:0-2147483647'": "where there are 1 to 3",
    "export I_MPI_ADJUST_BCAST='1:0-8;2:9-100'": "nothing is said above 100 bytes",
    "export I_MPI_ADJUST_BCAST='1:0-8;2:99-2147483647'": "nothing is said from 9 to 98 bytes",
    "export I_MPI_ADJUST_BCAST='1:8-2147483647'": "nothing is said below 8 bytes",
    "export I_MPI_ADJUST_BCAST='1:0-8;2:4-2147483647'": "overlap from 4 to 8",
    "export I_MPI_ADJUST_BCAST='1:8-0;2:1-2147483647'": "reversed",
    "export I_MPI_ADJUST_BCAST='1:0-8@2-2;2:9-2147483647@2-2'": "sizes in addition to ranks",
    "export I_MPI_ADJUST_BCST='1'": "no collective known",
    "I_MPI_ADJUST_BCAST='1'": "isn't exported",
    "export I_MPI_ADJUST_BCAST='1'\nexport I_MPI_ADJUST_BCAST='2'": "again",
    "export I_MPI_ADJUST_BCAST=1:0-8;2": "the shell ends I_MPI_ADJUST_BCAST at the semicolon: it is '1:0-8'",
    "export I_MPI_ADJUST_BCAST=$PRESET": "has no value that stands here",
}


@pytest.mark.parametrize(("text", "what"), TRAPS.items())
def test_traps_are_found_with_their_line(text: str, what: str) -> None:
    found = [each for each in FILE.lint(text, CATALOGUE, MPI) if what in each.what]
    assert [each.line for each in found] == [text.count("\n") + 1]


SCRIPT = """\
#!/bin/bash
#SBATCH --nodes=2
module load impi
export FI_PROVIDER=tcp I_MPI_FABRICS=shm:ofi
{}
echo "I_MPI_ADJUST_BCAST=$I_MPI_ADJUST_BCAST"
# export I_MPI_ADJUST_BCAST=1
awk '{{
  print }}' input
mpirun -n 8 ./model
"""


@pytest.mark.parametrize(
    "line",
    [
        "export I_MPI_ADJUST_BCAST=2",
        "export A=1 I_MPI_ADJUST_BCAST=2",
        "if true; then export I_MPI_ADJUST_BCAST='2'; fi",
        "I_MPI_ADJUST_BCAST=2 mpirun -n 8 ./model",
        "mpirun -genv I_MPI_ADJUST_BCAST 2 -n 8 ./model",
        "setenv I_MPI_ADJUST_BCAST 2",
        "export I_MPI_ADJUST_BCAST=2;rm -f old",
    ],
)
def test_a_job_script_is_read_for_what_it_sets(line: str) -> None:
    text = SCRIPT.format(line)
    assert FILE.recognizes(text)
    assert list(FILE.lint(text, CATALOGUE, MPI)) == []
    assert FILE.read(text, CATALOGUE).decide(Call("bcast", 8, 1, 8, 64)) == preset(2)


@needs_intel
@needs_two_cores
def test_the_library_takes_what_is_written(tmp_path: Path) -> None:
    mpi = choose_mpi(str(INTEL))
    known = LIBRARIES["intel"].algorithms.catalogue(mpi)
    rule = Rule("bcast", preset(3), sizes=Span(8, 4095))
    path = tmp_path / FILE.name
    path.write_text(FILE.write(SelectionTable("intel", mpi.version, (rule,)), known, mpi).text)
    parameters = FILE.switch_on(path, path.read_text(), mpi)
    taken = printed_values(mpi, parameters)
    assert "Incorrect adjust value" not in taken
    assert "I_MPI_ADJUST_BCAST=0:0-7;3:8-4095;0:4096-2147483647" in taken


def printed_values(mpi: Mpi, parameters: tuple[tuple[str, str], ...]) -> str:
    """What the library says when it starts."""
    program = (str(build(mpi) / "timpani-discover"),)
    request = LaunchRequest(2, "core", False, parameters, {"I_MPI_DEBUG": "12"}, program)
    return ran(mpi, request).stdout
