"""What a reader wants to see of a campaign: the study's names of algorithms, a statistic of a call, some cells."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any

import polars as pl

from timpani.campaign.folder.header import Header
from timpani.campaign.folder.load import Campaign, Statistic, StudyName
from timpani.errors import UserError, unknown
from timpani.libraries.registry import LIBRARIES, counterpart
from timpani.study.cell import COMPOSED, OWN, Algorithm, each_of, split_algorithms
from timpani.study.operations import OPERATIONS
from timpani.study.sizes import parse_size, parse_sizes
from timpani.study.study import ALL
from timpani.study.values import parse_ranks
from timpani.study.words import counted


def study_names(header: Header) -> list[StudyName]:
    """What the study calls differently: algorithms by another of their names, and those that others stand in for."""
    kind = header.mpi.kind
    stand_ins = LIBRARIES[kind].algorithms.stand_ins if kind in LIBRARIES else {}
    found: dict[tuple[str, str], StudyName] = {}
    for collective, texts in header.study.collectives.items():
        for text in chain.from_iterable(map(each_of, texts)):
            if text == ALL or collective not in OPERATIONS or OPERATIONS[collective].kind != "collective":
                continue
            named = Algorithm.parse(text)
            stands_in = (collective, str(named)) in stand_ins
            if named.provider in (OWN, COMPOSED) or not (stands_in or named.provider in ("", kind)):
                continue
            measured = counterpart(collective, named, kind)
            if measured.label != named.plain:
                found.setdefault((collective, measured.label), StudyName(collective, named, measured))
    return list(found.values())


_NAMED = ("provider", "algorithm", "parameters")
"""The columns that name an algorithm; it keeps its variant."""


def with_study_names(campaign: Campaign) -> Campaign:
    """The campaign with its stand-ins under the names of the algorithms whose place they take.

    A stand-in that the study names too keeps its name. A published table has the study's names of all algorithms.
    """
    named_too = {
        (collective, text) for collective, texts in campaign.header.study.collectives.items() for text in texts
    }
    renamed = [
        each
        for each in study_names(campaign.header)
        if (campaign.header.imported or each.named.provider not in ("", campaign.header.mpi.kind))
        and (each.collective, str(each.measured)) not in named_too
    ]
    if not renamed:
        return campaign
    names = {(each.collective, *_columns(each.measured)): _columns(each.named) for each in renamed}
    labels = {(each.collective, each.measured.label): each.named.plain for each in renamed}
    settings = campaign.header.settings and {
        collective: {labels.get((collective, label), label): text for label, text in known.items()}
        for collective, known in campaign.header.settings.items()
    }
    left_out = tuple(text for text in campaign.header.left_out if text not in set(_replaced(renamed)))
    return replace(
        campaign,
        header=campaign.header.model_copy(update={"settings": settings, "left_out": left_out}),
        results=_renamed(campaign.results, names),
        proofs=[_renamed_proof(proof, names) for proof in campaign.proofs],
        stand_ins=tuple(renamed),
    )


def study_label(campaign: Campaign, collective: str, label: str) -> str:
    """What `campaign`, one of `with_study_names`, calls the algorithm that was measured as `label`."""
    named = (each for each in campaign.stand_ins if (each.collective, each.measured.label) == (collective, label))
    return next((each.named.plain for each in named), label)


def notes_on(stand_ins: Iterable[StudyName], text: str) -> list[str]:
    """The footnotes of a text that names some of `stand_ins`, those of a campaign of `with_study_names`."""
    return [
        stand_in_note(each)
        for each in stand_ins
        if re.search(rf"(?<![\w/]){re.escape(each.named.plain)}(?![\w/])", text)
    ]


def stand_in_note(each: StudyName) -> str:
    """The footnote of an algorithm that another one stands in for, or that has another name in the study."""
    if each.named.provider == each.measured.provider:
        return f"{each.named.plain} ({each.collective}) is {each.measured}."
    return f"{each.named.plain} ({each.collective}): {each.measured} stands in for {each.named}."


def _replaced(renamed: list[StudyName]) -> Iterator[str]:
    """What a plan records of them in `left_out`."""
    for each in renamed:
        yield f"{each.collective} {each.named}: replaced by {each.measured}"


def _renamed(results: pl.DataFrame, names: Mapping[tuple[str, ...], tuple[str, ...]]) -> pl.DataFrame:
    rows = [(*measured, *named) for measured, named in names.items()]
    new = [f"{name}_named" for name in _NAMED]
    table = pl.DataFrame(rows, schema=["collective", *_NAMED, *new], orient="row")
    joined = results.join(table, on=["collective", *_NAMED], how="left", maintain_order="left")
    return joined.with_columns(
        pl.coalesce(named, name).alias(name) for name, named in zip(_NAMED, new, strict=True)
    ).drop(new)


def _renamed_proof(proof: dict[str, Any], names: Mapping[tuple[str, ...], tuple[str, ...]]) -> dict[str, Any]:
    measured = (proof["collective"], *(proof[name] for name in _NAMED))
    return {**proof, **dict(zip(_NAMED, names.get(measured, measured[1:]), strict=True))}


def _columns(algorithm: Algorithm) -> tuple[str, ...]:
    """The values of `_NAMED`."""
    return algorithm.provider, algorithm.name, algorithm.parameter_text


def by_statistic(campaign: Campaign, statistic: Statistic) -> Campaign:
    """The campaign with that statistic of each launch in the place of `median_us`, so that all that is computed from
    it, with intervals and comparisons, is of this statistic.

    Results that have an average only, as imported ones have, stay as they are.
    """
    if statistic == "completion":
        return campaign
    measured = pl.col("median_us").is_not_null()
    inside = (pl.when(~measured).then(bound).alias(bound) for bound in ("ci_low_us", "ci_high_us"))
    results = campaign.results.with_columns(*inside, median_us=pl.when(measured).then("osu_avg_us"))
    return replace(campaign, results=results, statistic=statistic)


def select_cells(
    cells: pl.DataFrame, operations: str | None, algorithms: str | None, ranks: str | None, sizes: str | None
) -> pl.DataFrame:
    """The cells of `estimate_cells` that were asked for, by lists with commas as typed; None keeps everything.

    Of sizes `FIRST:LAST` is all measured ones between, as no step is asked for. UserError for a name, a rank count or a
    size of which there is no cell at all, so that nothing is missed in silence.
    """
    kept = pl.lit(True)
    if operations is not None:
        kept &= _is_one_of(cells, "collective", "operation", [name.strip() for name in operations.split(",")])
    if algorithms is not None:
        kept &= _is_one_of(cells, "label", "algorithm", split_algorithms(algorithms))
    if ranks is not None:
        for count in parse_ranks(ranks):
            _must_have(cells.filter(ranks=count), counted(count, "rank"))
        kept &= pl.col("ranks").is_in(parse_ranks(ranks))
    if sizes is not None:
        inside = pl.lit(False)
        for first, last in map(_interval, sizes.split(",")):
            condition = pl.col("message_bytes").is_between(first, last)
            _must_have(cells.filter(condition), f"{first} B" if first == last else f"sizes from {first} to {last} B")
            inside |= condition
        kept &= inside
    selected = cells.filter(kept)
    _must_have(selected, "all of that together")
    return selected


def _is_one_of(cells: pl.DataFrame, column: str, kind: str, names: Iterable[str]) -> pl.Expr:
    measured = set(cells[column])
    for name in names:
        if name not in measured:
            raise unknown(f"{kind} in this campaign", name, measured, "timpani show")
    return pl.col(column).is_in(list(names))


def _must_have(cells: pl.DataFrame, what: str) -> None:
    if cells.is_empty():
        raise UserError(f"the campaign has no cell of {what}", "without this option `timpani show` lists all cells")


def _interval(text: str) -> tuple[int, int]:
    first, colon, last = text.partition(":")
    if not colon:
        return (size := parse_size(first)), size
    sizes = parse_sizes(f"{first}:{last}+{2**31 - 1}")
    return sizes[0], sizes[-1]
