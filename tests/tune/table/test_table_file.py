"""The selection table as a file: the same table again, and nothing else believed."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timpani.campaign.folder.sealed import seal_object
from timpani.errors import UserError
from timpani.study.cell import Algorithm
from timpani.study.operations import COLLECTIVES
from timpani.study.selection import (
    Call,
    Evidence,
    PredictedRules,
    Rule,
    SelectionTable,
    SizeGap,
    SizesAt,
    Span,
    WrittenSetting,
)
from timpani.tune.table_file import FILE, read_table, table_text

spans = st.tuples(st.integers(0, 2**40), st.none() | st.integers(0, 2**20)).map(
    lambda drawn: Span(drawn[0], None if drawn[1] is None else drawn[0] + drawn[1])
)
bounds = st.none() | st.floats(0.01, 100)
evidence = st.builds(
    Evidence, st.integers(0, 2**40), st.floats(0.01, 100), bounds, bounds, launches=st.integers(1, 10**6)
)
algorithms = st.sampled_from(["openmpi/chain:fanout=4,segment_bytes=8192", "timpani/ring", "mpich/binomial"])
rules = st.builds(
    Rule,
    st.sampled_from(sorted(COLLECTIVES)),
    algorithms.map(Algorithm.parse),
    *[spans] * 4,
    evidence=st.lists(evidence, max_size=3).map(tuple),
    regret=st.floats(0, 1),
)
predicted_evidence = st.builds(
    Evidence, st.integers(0, 2**40), st.floats(0.01, 100), bounds, bounds, launches=st.just(0)
)
predicted = st.builds(
    PredictedRules,
    rules.flatmap(lambda rule: predicted_evidence.map(lambda each: (replace(rule, evidence=(each,)),))),
    st.lists(st.text(max_size=9), max_size=2).map(tuple),
    st.lists(st.text(max_size=9), max_size=2).map(tuple),
    st.booleans(),
)
sampled = st.lists(
    st.builds(SizesAt, st.just("bcast"), st.integers(1, 2**20), st.lists(st.integers(0, 2**40), max_size=3).map(tuple)),
    max_size=2,
).map(tuple)
tables = st.builds(
    SelectionTable,
    st.just("openmpi"),
    st.just("5.0.11"),
    st.lists(rules, max_size=5).map(tuple),
    st.text(max_size=20),
    st.just(("/campaigns/a b",)),
    st.lists(st.builds(SizeGap, st.just("bcast"), *[st.integers(0, 2**40)] * 4), max_size=2).map(tuple),
    st.dictionaries(st.sampled_from(sorted(COLLECTIVES)), spans, max_size=3),
    st.none() | predicted,
    st.booleans(),
    sampled,
    sampled,
    st.none() | st.just(WrittenSetting("eager", "UCX_TLS=sm", points=2, faster=1, gain=1.5)),
)


@given(table=tables)
def test_a_table_is_read_as_it_was_written(table: SelectionTable, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / "table.json"
    path.write_text(table_text(table, path.parent))
    assert read_table(path) == table


def test_campaigns_inside_a_moved_folder_are_found(tmp_path: Path) -> None:
    before = tmp_path / "before"
    before.mkdir()
    table = SelectionTable("openmpi", "5.0.11", (), campaigns=(str(before / "campaign"), "/elsewhere"))
    (before / "table.json").write_text(table_text(table, before))
    moved = before.rename(tmp_path / "moved")
    assert read_table(moved / "table.json").campaigns == (str(moved / "campaign"), "/elsewhere")


PLACES = ((1, 4), (2, 4), (2, 7))


def test_the_first_rule_that_applies_decides() -> None:
    first = Rule("bcast", Algorithm.parse("openmpi/ring"), ranks=Span(4, 8), sizes=Span(0, 1023))
    second = Rule("bcast", Algorithm.parse("openmpi/chain"), ranks=Span(4, None))
    table = SelectionTable("openmpi", "5.0.11", (first, second))
    assert table.decide(Call("bcast", 4, 1, 4, 8)) == first.algorithm
    assert table.decide(Call("bcast", 9, 1, 9, 8)) == second.algorithm
    assert table.decide(Call("bcast", 2, 1, 2, 8)) is None
    assert table.decide(Call("reduce", 4, 1, 4, 8)) is None
    placed = replace(table, rules=(replace(second, nodes=Span(2, 2), per_node=Span(4, 4)),))
    decided = {(nodes, per_node): placed.decide(Call("bcast", 8, nodes, per_node, 8)) for nodes, per_node in PLACES}
    assert [place for place, algorithm in decided.items() if algorithm] == [(2, 4)]


def test_predicted_rules_decide_nothing_and_are_in_files_where_asked() -> None:
    rule = Rule("bcast", Algorithm.parse("openmpi/ring"), Span(64, 64), evidence=(Evidence(8, 2.0, 1.5, 2.5, 0),))
    table = SelectionTable("openmpi", "5.0.11", (), "here", predicted=PredictedRules((rule,)))
    call = Call("bcast", 64, 1, 64, 8)
    assert table.decide(call) is None
    assert table.for_files() == table
    asked = replace(table, predicted=PredictedRules((rule,), in_files=True))
    assert asked.decide(call) is None
    assert asked.for_files().decide(call) == rule.algorithm
    assert asked.for_files().source == "here; rules for 64 ranks are predicted, not measured"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (('"first": 4', '"first": -4'), "first can't be -4"),
        (('"last": 8', '"last": 3'), "ranks"),
        (('"collective": "bcast"', '"collective": "broadcast"'), "'broadcast' is no collective"),
        (('"version": 1', '"version": 2'), "version can't be 2"),
        (('"gaps"', '"gap"'), "gap"),
        (("{", "["), "can't be trusted"),
        (("openmpi/ring", "openmpi ring"), "is not an algorithm"),
    ],
)
def test_the_fault_of_an_invalid_table_is_named(change: tuple[str, str], says: str, tmp_path: Path) -> None:
    rule = Rule("bcast", Algorithm.parse("openmpi/ring"), ranks=Span(4, 8))
    text = table_text(SelectionTable("openmpi", "5.0.11", (rule,)), tmp_path)
    assert change[0] in text
    unsealed = text[: text.rindex(",")] + "\n}"
    (tmp_path / "table.json").write_bytes(seal_object(unsealed.replace(*change, 1).encode(), FILE.sealed_for))
    with pytest.raises(UserError, match=says):
        read_table(tmp_path / "table.json")


def test_a_changed_table_is_refused(tmp_path: Path) -> None:
    rule = Rule("bcast", Algorithm.parse("openmpi/ring"), Span(4, 8), evidence=(Evidence(8, 2.0, 1.5, 2.5, 9),))
    written = table_text(SelectionTable("openmpi", "5.0.11", (rule,)), tmp_path)
    for was, changed in (('"gain": 2.0', '"gain": 9.99'), ('"first": 4', '"first": 2')):
        assert was in written
        (tmp_path / "table.json").write_text(written.replace(was, changed))
        with pytest.raises(UserError, match=r"table\.json can't be trusted: .* changed since it was written"):
            read_table(tmp_path / "table.json")


def test_a_predicted_rule_with_launches_is_refused(tmp_path: Path) -> None:
    rule = Rule("bcast", Algorithm.parse("openmpi/ring"), Span(64, 64), evidence=(Evidence(8, 2.0, 1.5, 2.5, 9),))
    (tmp_path / "table.json").write_text(
        table_text(SelectionTable("openmpi", "5", (), predicted=PredictedRules((rule,))), tmp_path)
    )
    with pytest.raises(UserError, match="which only measured rules have"):
        read_table(tmp_path / "table.json")
