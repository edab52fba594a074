"""What may be written for a variant, and what is refused."""

import json

import pytest

from timpani.errors import UserError
from timpani.study.study import Study
from timpani.study.variant import PLAIN, Variant, parse_named, parse_variant, variants_of_table


@pytest.mark.parametrize(
    ("text", "variant"),
    [
        ("--mca btl ^vader", Variant(parameters=(("btl", "^vader"),))),
        ("btl_tcp_eager_limit=65536", Variant(parameters=(("btl_tcp_eager_limit", "65536"),))),
        ("OMPI_MCA_btl='^vader,self'", Variant(environment=(("OMPI_MCA_btl", "^vader,self"),))),
        ("MPIR_CVAR_X=1 --bind-to none", Variant(environment=(("MPIR_CVAR_X", "1"),), arguments=("--bind-to", "none"))),
        ("--mpi mpich --module a --module b", Variant(mpi="mpich", modules=("a", "b"))),
        ("--source 'my env.sh' --preload lib.so", Variant(source="my env.sh", preload="lib.so")),
        ("X='$(touch gone)'", Variant(environment=(("X", "$(touch gone)"),))),
    ],
)
def test_a_variant_is_read_as_a_shell_reads_words_and_written_back(text: str, variant: Variant) -> None:
    assert parse_variant(text) == variant
    assert parse_variant(str(variant)) == variant


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("--mca btl ^vader --mca btl self", "btl is set twice"),
        ("--mca btl", "--mca lacks a value"),
        ("vader", "'vader' in 'vader' is not a setting"),
        ("'open", "can't be read"),
        ("LD_PRELOAD=a --preload b", "LD_PRELOAD is set twice"),
    ],
)
def test_an_invalid_or_repeated_setting_is_refused(text: str, said: str) -> None:
    with pytest.raises(UserError) as refused:
        parse_variant(text)
    assert said in refused.value.what


@pytest.mark.parametrize("text", ["no colon", "a:", "a: ", "b/c: X=1", "@: X=1", f"{'n' * 61}: X=1", ": X=1"])
def test_a_variant_needs_a_name_that_tables_can_show(text: str) -> None:
    with pytest.raises(UserError):
        parse_named(text)


def checked(variants: object) -> Study:
    return Study.check({"collectives": {"bcast": "default"}, "ranks": 2, "sizes": 8, "variants": variants}, "test")


def test_two_variants_of_one_name_are_refused() -> None:
    with pytest.raises(UserError, match="two variants are called 'a'"):
        checked(["a: X=1", "a: X=2"])
    with pytest.raises(UserError, match="two variants are called 'a-1'"):
        checked({"a": {"btl": "1:2"}, "a-1": "X=1"})


def test_a_series_makes_a_variant_of_each_value() -> None:
    swept = variants_of_table({"btl_tcp_eager_limit": "16K:1M*4"})
    assert list(swept) == [f"btl_tcp_eager_limit={size}" for size in ("16K", "64K", "256K", "1M")]
    assert [dict(each.parameters)["btl_tcp_eager_limit"] for each in swept.values()][-1] == str(2**20)
    both = variants_of_table({"x": {"mpi": "mpich", "a": "1:2", "B": "4:8", "c": True}})
    assert list(both) == ["x-1+4", "x-1+8", "x-2+4", "x-2+8"]
    assert both["x-2+4"] == Variant(parameters=(("a", "2"), ("c", "1")), environment=(("B", "4"),), mpi="mpich")


def test_default_is_always_one_and_sets_nothing_unless_the_study_says_otherwise() -> None:
    assert checked({}).all_variants == {"default": PLAIN}
    assert list(checked({"a": "X=1"}).all_variants) == ["default", "a"]
    assert checked({"a": "X=1", "default": "X=2"}).all_variants["default"] == Variant(environment=(("X", "2"),))


def test_variants_survive_the_record_of_the_study() -> None:
    study = checked({"a": "--mca btl ^vader X=1", "b": {"mpi": "mpich", "y": "1:4", "algorithms": ["default"]}})
    assert Study.check(json.loads(json.dumps(study.model_dump(mode="json"))), "record") == study


@pytest.mark.parametrize(
    "variants", [3, {"a": {"b": []}}, {"a": {"mpi": 3}}, {"a": {"no-name": "1"}}, {"a": {"algorithms": 3}}]
)
def test_an_invalid_table_of_settings_is_refused(variants: object) -> None:
    with pytest.raises(UserError):
        checked(variants)
