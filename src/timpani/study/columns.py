"""What the columns `provider`, `algorithm` and `parameters` of a table say, as polars expressions."""

import polars as pl

from timpani.study.cell import COMPOSED, DEFAULT, OWN, RULES, VARIANT_SIGN


def algorithm_name() -> pl.Expr:
    """Column `name`, as `Algorithm.plain` makes it."""
    parameters = pl.when(pl.col("parameters") == "").then(pl.lit("")).otherwise(":" + pl.col("parameters"))
    return (pl.col("algorithm") + parameters).alias("name")


def algorithm_label() -> pl.Expr:
    """Column `label`, as `Algorithm.label` makes it."""
    shown = pl.col("provider").is_in([OWN, COMPOSED])
    provider = pl.when(shown).then(pl.col("provider") + "/").otherwise(pl.lit(""))
    variant = pl.when(pl.col("variant") == DEFAULT).then(pl.lit("")).otherwise(VARIANT_SIGN + pl.col("variant"))
    return (provider + algorithm_name() + variant).alias("label")


def is_default() -> pl.Expr:
    """As `Algorithm.is_default` has it."""
    return (pl.col("algorithm") == DEFAULT) & (pl.col("variant") == DEFAULT)


def is_timpani_schedule() -> pl.Expr:
    """Whether it is one of Timpani's collective algorithms: no way of transposing, nor a call that rules replace."""
    return (pl.col("provider") == OWN) & (pl.col("algorithm") != RULES) & (pl.col("collective") != "transpose")
