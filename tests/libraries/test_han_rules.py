"""Files by which coll/han passes calls to coll/tuned: those that it has rules for on several nodes."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.libraries.tuned_tables import CATALOGUES, calls, check_mangled, mpi, tables
from timpani.libraries.openmpi.classic_rules import TunedRules
from timpani.libraries.openmpi.han_rules import HanRules
from timpani.study.cell import Algorithm
from timpani.study.selection import Call, Rule, SelectionTable, Span

FILE = HanRules()
VERSION = "5.0.11"
CATALOGUE, MPI = CATALOGUES[VERSION], mpi(VERSION)
LINEAR = Algorithm("openmpi", "linear")


@pytest.mark.slow
@settings(max_examples=40)
@given(data=st.data())
def test_a_written_file_is_read_back(data: st.DataObject) -> None:
    table = data.draw(tables(VERSION, sayable=False))
    file = FILE.write(table, CATALOGUE, MPI)
    tuned = TunedRules().write(table, CATALOGUE, MPI).said
    if not file.said.rules:
        return
    assert FILE.recognizes(file.text)
    assert not TunedRules().recognizes(file.text)
    assert not list(FILE.lint(file.text, CATALOGUE, MPI))
    choice = FILE.read(file.text, CATALOGUE)
    for call in data.draw(st.lists(calls(table), min_size=1, max_size=5)):
        assert choice.decide(call) == file.said.decide(call)
        if choice.decide(call):
            assert tuned.decide(call), "coll/tuned has a rule for each call that is passed on"


def test_rules_of_one_node_leave_several_nodes_to_han() -> None:
    table = SelectionTable(
        "Open MPI",
        VERSION,
        (
            Rule("bcast", LINEAR, Span(8, 8), nodes=Span(1, 1), sizes=Span(64, 127)),
            Rule("bcast", LINEAR, Span(8, 8), nodes=Span(4, 4), sizes=Span(4096, 8191)),
            Rule("reduce", LINEAR, Span(8, 8), nodes=Span(1, 1)),
            Rule("alltoall", LINEAR, Span(8, 8), nodes=Span(4, 4)),  # never HAN's
        ),
    )
    file = FILE.write(table, CATALOGUE, MPI)
    plain = [line.split("#")[0].strip() for line in file.text.splitlines()]
    assert plain == [
        *("1", "bcast", "1", "global_communicator", "3"),
        *("1 1", "0 han", "8 3", "0 han", "4096 tuned", "8192 han", "9 1", "0 han"),
    ]


def test_mangled_files_are_refused_in_one_line_or_read() -> None:
    table = SelectionTable("Open MPI", VERSION, (Rule("bcast", LINEAR, Span(4, 4), sizes=Span(4096, 65535)),))
    whole = FILE.write(table, CATALOGUE, MPI).text
    pool = [*"0123456789-+@[]# \n\t\0é٣", "tuned", "han @simple", "[1 2]", "9" * 50, "global_communicator"]
    check_mangled(FILE, VERSION, whole, pool, Call("bcast", 4, 2, 2, 5000))


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("1\nbcast 1 global_communicator 1\n2 1\n0 tuned\n", 3, "first communicator size is 2 and not 1"),
        ("1\nbcast 1 global_communicator 1\n1 1\n8 tuned\n", 4, "first message size is 8 and not 0"),
        ("1\nbcast 1 global_communicator 1\n1 1\n0 turned\n", 4, "'turned' is not a component"),
        ("1\nbroadcast 1 global_communicator 1\n1 1\n0 tuned\n", 2, "'broadcast' is not a collective"),
        ("1\nalltoall 1 global_communicator 1\n1 1\n0 tuned\n", 2, "coll/han does no alltoall"),
        ("1\nbcast 1 global_communicator 2\n1 1\n0 tuned\n1 1\n0 han\n", 5, "1 ranks after 1"),
        ("1\nbcast 1 global_communicator 1\n1 1\n0 tuned\n7", 5, "more follows"),
        ("1\nbcast 1 global_communicator 1\n1 1\n0 han @fast\n", 4, "'fast' is not an algorithm of coll/han's bcast"),
        ("1\nbcast 1 3 1\n1 1\n0 han\n", 2, "'3' is not a level"),
        ("1\ngatherv 1 2 1\n1 1\n0 tuned\n", 2, "coll/han does no gatherv"),
        ("1\n21 1 2 1\n1 1\n0 tuned\n", 2, "coll/han does no neighbor_alltoallw"),
        ("1\nbcast 1 2 1\n1 1\n0x0 han\n", 4, "a message size should stand where '0x0' does"),
    ],
)
def test_traps_are_found_with_their_line(text: str, line: int, says: str) -> None:
    [fault] = FILE.lint(text, CATALOGUE, MPI)
    assert (fault.line, says in fault.what) == (line, True), fault


@pytest.mark.parametrize(
    "text",
    [
        "1\nbcast\n1\nglobal_communicator\n1\n1\n2\n0 tuned\n65536 han @simple\n",
        "1\n7\n1\n2\n1\n1\n2\n0 tuned\n65536 han @2\n",
        "1 # collective\n7 1 global_communicator 1\n1 2\n0 tuned\n65536 han @ simple\n",
        "01\n07 +1 02 0x1 01 02\n-0 tuned\n065536 han @02\n",
    ],
)
def test_collectives_levels_and_algorithms_may_be_numbers(text: str) -> None:
    assert FILE.recognizes(text)
    assert not TunedRules().recognizes(text)
    assert not list(FILE.lint(text, CATALOGUE, MPI))
    choice = FILE.read(text, CATALOGUE)
    chosen = [choice.decide(Call("bcast", 8, 2, 4, size)) for size in (65535, 65536)]
    assert chosen == [Algorithm("openmpi", "tuned"), Algorithm("openmpi", "han_simple")]
