"""Random selection tables for what coll/tuned offers, calls that they decide, and checks of files for them."""

import random
from collections.abc import Callable, Sequence
from pathlib import Path

from hypothesis import strategies as st

from timpani.errors import UserError
from timpani.libraries.catalogue import Catalogue
from timpani.libraries.openmpi.algorithms import read_algorithms
from timpani.libraries.openmpi.tuned import MIN_RADIX, TUNED, TWO_RANKS, fields, has_radix
from timpani.libraries.tuning_file import TuningFile
from timpani.native.mpi import Mpi
from timpani.study.cell import Algorithm
from timpani.study.selection import ALL, Call, Rule, SelectionTable, Span

DATA = Path(__file__).parents[1] / "data/ompi_info"
VERSIONS = ("4.1.4", "5.0.11")
SIX = "6.0.0"
_ASKED = {version: (DATA / f"openmpi-{version}.txt").read_text() for version in VERSIONS}
_NEW_IN_SIX = {
    "allgather_algorithm:enumerator:value:2:bruck": ("2:bruck-k-fanout", "8:direct-messaging"),
    "allreduce_algorithm:enumerator:value:6:rabenseifner": ("6:rabenseifner", "7:allgather_reduce"),
    "reduce_algorithm:enumerator:value:7:rabenseifner": ("7:rabenseifner", "8:knomial"),
}
"""What the sources of Open MPI's main branch (August 2026) list, and 5.0.11 does not."""


def _six() -> str:
    """What `ompi_info` of version 6 prints, made from 5.0.11's and the sources."""
    lines = []
    for line in _ASKED["5.0.11"].splitlines():
        new = next((each for end, each in _NEW_IN_SIX.items() if line.endswith(f"coll_tuned_{end}")), None)
        lines += [line] if new is None else [f"{line.rpartition('value:')[0]}value:{each}" for each in new]
    return "\n".join(lines)


CATALOGUES = {
    version: Catalogue("openmpi", version, read_algorithms(text), name="Open MPI")
    for version, text in {**_ASKED, SIX: _six()}.items()
}


def mpi(version: str) -> Mpi:
    """An installation of this version that nothing is asked of."""
    return Mpi("openmpi", "Open MPI", version, Path("mpirun"), Path("mpicxx"), None)


def spans(most: int) -> st.SearchStrategy[Span]:
    """Of numbers up to `most`, some without end."""
    first = st.integers(0, most)
    return st.builds(
        lambda first, more: Span(first, None if more is None else first + more), first, st.none() | st.integers(0, most)
    )


@st.composite
def algorithms(draw: st.DrawFn, collective: str, version: str) -> Algorithm:
    """With parameters that a rules file of this version can say; no value is the library's default."""
    info = draw(st.sampled_from(CATALOGUES[version].algorithms[collective]))
    chosen = {}
    for field, each in fields(info).items():
        least = MIN_RADIX if field == "topo" and has_radix(info) else 0
        value = draw(st.none() | st.integers(least, 2**20))
        if value not in (None, each.default) and (field != "requests" or version != "4.1.4"):
            chosen[each.name] = value
    return Algorithm("openmpi", info.name, tuple(sorted(chosen.items())))


@st.composite
def tables(draw: st.DrawFn, version: str, sayable: bool) -> SelectionTable:
    """`sayable`: nothing that a rules file can't say; else nodes, too many ranks, sizes for gather and more."""
    rules = []
    for _ in range(draw(st.integers(0, 6))):
        collective = draw(st.sampled_from(sorted(TUNED)))
        ranks = draw(spans(64))
        sizes = ALL if collective == "barrier" else draw(spans(2**24))  # as rules for barriers have it
        if sayable:
            sizes = ALL if TUNED[collective].unsaid else sizes
            ranks = Span(ranks.first, ranks.first + 9) if ranks.last is None else ranks
        algorithm = draw(algorithms(collective, version))
        if sayable and algorithm.name == TWO_RANKS:
            ranks = Span(2, 2)
        nodes = ALL if sayable else draw(st.just(ALL) | spans(4))
        per_node = ALL if sayable else draw(st.just(ALL) | spans(4))
        rules.append(Rule(collective, algorithm, ranks, nodes, per_node, sizes))
    measured = {} if sayable else draw(st.dictionaries(st.sampled_from(sorted(TUNED)), st.just(Span(8, 4096))))
    return SelectionTable("Open MPI", version, tuple(rules), measured=measured)


@st.composite
def calls(draw: st.DrawFn, table: SelectionTable) -> Call:
    """Anywhere, and often at the edges of a rule, or one byte or one rank away from them."""
    rules = st.sampled_from(table.rules) if table.rules else st.nothing()
    rule = draw(rules) if table.rules else Rule("bcast", Algorithm("openmpi", "linear"))

    def near(span: Span, most: int) -> int:
        edge = draw(st.sampled_from((span.first, span.first if span.last is None else span.last)))
        return max(0, draw(st.integers(0, most) | st.sampled_from((edge - 1, edge, edge + 1))))

    ranks = max(2, near(rule.ranks, 200))
    size = 0 if rule.collective == "barrier" else near(rule.sizes, 2**26)
    return Call(rule.collective, ranks, draw(st.integers(1, 4)), draw(st.integers(1, 4)), size)


def check_read_back(
    file: TuningFile, version: str, data: st.DataObject, possible: Callable[[Call], Call] = lambda call: call
) -> None:
    """A file that is written from a table decides as the table does, or as what it says of it."""
    installed, catalogue, sayable = mpi(version), CATALOGUES[version], data.draw(st.booleans())
    table = data.draw(tables(version, sayable))
    written = file.write(table, catalogue, installed)
    choice = file.read(written.text, catalogue)
    assert file.recognizes(written.text)
    assert not [fault for fault in file.lint(written.text, catalogue, installed) if fault.severity == "error"]
    assert not (sayable and written.left_out)
    for call in map(possible, data.draw(st.lists(calls(table), min_size=1, max_size=5))):
        assert choice.decide(call) == written.said.decide(call)
        if not written.left_out:
            assert choice.decide(call) == table.decide(call)


def check_mangled(file: TuningFile, version: str, whole: str, pool: Sequence[str], call: Call) -> None:
    """Each of 300 damaged copies of `whole` is read, or refused in one line for an error that lint finds in a line."""
    random_state = random.Random(17)
    refused = 0
    for _ in range(300):
        text = whole
        for _ in range(random_state.randint(1, 4)):
            at, length = random_state.randrange(len(text) + 1), random_state.choice((0, 0, 1, 1, 5, 200))
            text = text[:at] + random_state.choice(pool) + text[at + length :]
        file.recognizes(text)
        faults = list(file.lint(text, CATALOGUES[version], mpi(version)))
        try:
            file.read(text, CATALOGUES[version]).decide(call)
        except UserError:
            refused += 1
            assert [fault for fault in faults if fault.severity == "error" and fault.line]
    assert 0 < refused < 300
