"""The selection table as a file: `table.json` of the folder that `timpani tune` writes."""

import json
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from timpani.campaign.folder.sealed_lines import DamageError, seal_object, unseal
from timpani.errors import UserError, wrong
from timpani.reading import parse_json, read_bytes
from timpani.study.cell import Algorithm
from timpani.study.operations import COLLECTIVES
from timpani.tuning.decide.selection_table import (
    Evidence,
    PredictedRules,
    Rule,
    SelectionTable,
    SizeGap,
    SizesAt,
    Span,
    WrittenSetting,
)

TABLE_FILE = "table.json"
SEALED_FOR = "selection"
"""Identity in the checksum at the end of the table file; files of a campaign use the campaign's id instead."""

_STEP = "`timpani tune` writes it"
_Count = Annotated[int, Field(ge=0, lt=2**62)]
_Ratio = Annotated[float, Field(gt=0)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Evidence(_Strict):
    bytes: _Count
    gain: _Ratio
    gain_low: _Ratio | None
    gain_high: _Ratio | None
    launches: _Count


class _Span(_Strict):
    first: _Count
    last: _Count | None

    @model_validator(mode="after")
    def _upwards(self) -> "_Span":
        if self.last is not None and self.last < self.first:
            raise ValueError("its last value is below its first")
        return self


class _Rule(_Strict):
    collective: str
    algorithm: str
    ranks: _Span
    nodes: _Span
    per_node: _Span
    bytes: _Span
    regret: Annotated[float, Field(ge=0)]
    evidence: list[_Evidence]


class _Gap(_Strict):
    collective: str
    ranks: _Count
    nodes: _Count
    before: _Count
    after: _Count


class _SizesAt(_Strict):
    collective: str
    ranks: _Count
    bytes: list[_Count]


class _Predicted(_Strict):
    rules: list[_Rule]
    conditions: list[str]
    left_out: list[str]
    in_files: bool


class _Setting(_Strict):
    name: str
    settings: str
    points: _Count
    faster: _Count
    gain: _Ratio


class _Table(_Strict):
    format: Literal["timpani-selection"]
    version: Literal[1]
    library: str
    library_version: str
    simulated: bool = False
    source: str
    campaigns: list[str]
    rules: list[_Rule]
    gaps: list[_Gap]
    measured: dict[str, _Span] = {}
    predicted: _Predicted | None = None
    sampled: list[_SizesAt] = []
    unmeasured: list[_SizesAt] = []
    setting: _Setting | None = None
    checksum: str


def table_text(table: SelectionTable, folder: Path) -> str:
    """The table as JSON for `folder`, with a checksum at its end.

    Campaigns in the folder are named by relative paths, so that the folder can be moved.
    """
    predicted = table.predicted
    values = {
        "format": "timpani-selection",
        "version": 1,
        "library": table.library,
        "library_version": table.version,
        "simulated": table.simulated,
        "source": table.source,
        "campaigns": [_relative_path(folder.resolve(), each) for each in table.campaigns],
        "rules": list(map(_rule_values, table.rules)),
        "gaps": list(map(vars, table.gaps)),
        "measured": {name: vars(span) for name, span in table.measured.items()},
        "sampled": list(map(_sizes_values, table.sampled)),
        "unmeasured": list(map(_sizes_values, table.unmeasured)),
        **({} if predicted is None else {"predicted": _predicted_values(predicted)}),
        **({} if table.setting is None else {"setting": vars(table.setting)}),
    }
    return seal_object(json.dumps(values, indent=1, ensure_ascii=False).encode(), SEALED_FOR).decode()


def read_table(path: Path) -> SelectionTable:
    """The table in `path`; UserError if the file is missing, is no selection table, or was changed after writing."""
    try:
        raw = read_bytes(path, _STEP)
        values = parse_json(raw)
        unseal(raw, SEALED_FOR)
        found = _Table.model_validate(values)
    except FileNotFoundError:
        raise UserError(f"no table found: {path}", _STEP) from None
    except ValidationError as error:
        raise UserError(f"{path} is no selection table: {wrong(dict(error.errors()[0]))}", _STEP) from None
    except DamageError as damage:
        raise UserError(f"{path} can't be believed: {damage}", "restore it, or write it anew: timpani tune") from None
    except ValueError as error:
        raise UserError(f"{path} can't be read ({error})", _STEP) from None
    return SelectionTable(
        found.library,
        found.library_version,
        tuple(_rule(each, path) for each in found.rules),
        found.source,
        tuple(str(path.parent.resolve() / each) for each in found.campaigns),
        tuple(SizeGap(**each.model_dump()) for each in found.gaps),
        {name: Span(span.first, span.last) for name, span in found.measured.items()},
        _predicted(found.predicted, path) if found.predicted else None,
        found.simulated,
        tuple(map(_sizes_at, found.sampled)),
        tuple(map(_sizes_at, found.unmeasured)),
        WrittenSetting(**found.setting.model_dump()) if found.setting else None,
    )


def _relative_path(folder: Path, campaign: str) -> str:
    return str(Path(campaign).relative_to(folder)) if Path(campaign).is_relative_to(folder) else campaign


def _rule_values(rule: Rule) -> dict[str, Any]:
    return {
        "collective": rule.collective,
        "algorithm": str(rule.algorithm),
        **{name: vars(span) for name, span in _spans(rule).items()},
        "regret": rule.regret,
        "evidence": [
            {
                "bytes": each.message_bytes,
                **{name: value for name, value in vars(each).items() if name != "message_bytes"},
            }
            for each in rule.evidence
        ],
    }


def _sizes_values(sizes: SizesAt) -> dict[str, Any]:
    return {"collective": sizes.collective, "ranks": sizes.ranks, "bytes": list(sizes.sizes)}


def _sizes_at(read: _SizesAt) -> SizesAt:
    return SizesAt(read.collective, read.ranks, tuple(read.bytes))


def _predicted_values(predicted: PredictedRules) -> dict[str, Any]:
    return {
        "in_files": predicted.in_files,
        "conditions": list(predicted.conditions),
        "rules": list(map(_rule_values, predicted.rules)),
        "left_out": list(predicted.left_out),
    }


def _predicted(read: _Predicted, path: Path) -> PredictedRules:
    rules = tuple(_rule(each, path) for each in read.rules)
    if not all(rule.predicted for rule in rules):
        raise UserError(f"{path}: a predicted rule has launches, which only measured rules have", _STEP)
    return PredictedRules(rules, tuple(read.conditions), tuple(read.left_out), read.in_files)


def _spans(rule: Rule) -> dict[str, Span]:
    return {"ranks": rule.ranks, "nodes": rule.nodes, "per_node": rule.per_node, "bytes": rule.sizes}


def _rule(read: _Rule, path: Path) -> Rule:
    if read.collective not in COLLECTIVES:
        raise UserError(f"{path}: {read.collective!r} is no collective", _STEP)
    evidence = tuple(
        Evidence(each.bytes, each.gain, each.gain_low, each.gain_high, each.launches) for each in read.evidence
    )
    return Rule(
        read.collective,
        Algorithm.parse(read.algorithm),
        ranks=_span(read.ranks),
        nodes=_span(read.nodes),
        per_node=_span(read.per_node),
        sizes=_span(read.bytes),
        evidence=evidence,
        regret=read.regret,
    )


def _span(read: _Span) -> Span:
    return Span(read.first, read.last)
