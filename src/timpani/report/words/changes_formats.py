"""What changed between two campaigns for other programs: JUnit XML for CI servers, OpenMetrics text for Prometheus.

OpenMetrics 1.0: https://github.com/OpenObservability/OpenMetrics. JUnit: the elements that Jenkins and GitLab read.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any
from xml.etree import ElementTree as Xml

from timpani.campaign.folder.load import Campaign
from timpani.report.words.changes_text import changes_text
from timpani.study.arrival import TOGETHER
from timpani.study.sizes import show_size
from timpani.tuning.compare.changes import CHANGED_CELL, FASTER, ChangeLimit, Changes
from timpani.tuning.decide.decide import SLOWER, WITHIN

_NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_DECIDED = (FASTER, SLOWER, WITHIN)
_GAUGES = (
    ("before_us", "timpani_change_before_seconds", "seconds", "Median time in A.", 1e-6),
    ("after_us", "timpani_change_after_seconds", "seconds", "Median time in B.", 1e-6),
    ("ratio", "timpani_change_ratio", "", "Time in A over time in B.", 1),
    ("ratio_low", "timpani_change_ratio_low", "", "Lower end of the interval of the ratio.", 1),
    ("ratio_high", "timpani_change_ratio_high", "", "Upper end of the interval of the ratio.", 1),
)
"""Column of `Changes.cells`, gauge, unit, description, and the factor from the column to the unit."""


def changes_junit(before: Campaign, after: Campaign, found: Changes, limit: ChangeLimit | None) -> str:
    """One test case per cell: it fails if it meets `limit` (None: any significant slowdown), and is skipped if nothing
    was decided. `system-out` holds the text with its conditions and warnings."""
    limit = limit or ChangeLimit(SLOWER, 0)
    failing = set(limit.meeting(found.cells).select(_key(found)).rows())
    suite = Xml.Element("testsuite", name=_clean(f"timpani compare: {limit}"), tests=str(found.cells.height))
    skipped = 0
    for row in found.cells.iter_rows(named=True):
        where = f"{row['label']}, {row['ranks']} ranks, {row['placement']}, {show_size(row['message_bytes'])}"
        late = row["arrival"] if row["arrival"] != TOGETHER else ""
        name = ", ".join(filter(None, (where, row["mode"], late, row.get("machine"))))
        case = Xml.SubElement(suite, "testcase", classname=_clean(row["collective"]), name=_clean(name))
        if tuple(row[name] for name in _key(found)) in failing:
            Xml.SubElement(case, "failure", message=_clean(_sentence(row)), type=limit.standing)
        elif row["standing"] not in _DECIDED:
            skipped += 1
            Xml.SubElement(case, "skipped", message=_clean(f"{row['standing']}: no significance was established"))
    suite.set("failures", str(len(failing)))
    suite.set("skipped", str(skipped))
    Xml.SubElement(suite, "system-out").text = _clean(changes_text(before, after, found))
    Xml.indent(suite)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + Xml.tostring(suite, encoding="unicode") + "\n"


def changes_openmetrics(before: Campaign, after: Campaign, found: Changes) -> str:
    """Gauges per cell with its standing as a label, and one information metric about both campaigns."""
    return "\n".join([*_metrics(before, after, found), "# EOF"]) + "\n"


def _metrics(before: Campaign, after: Campaign, found: Changes) -> Iterator[str]:
    about: dict[str, Any] = {}
    for side, campaign in (("a", before), ("b", after)):
        header = campaign.header
        about[f"{side}_mpi"] = header.mpi.title
        about[f"{side}_machine"] = header.machine.name
        about[f"{side}_simulated"] = str(bool(campaign.results["simulated"].any())).lower()
    yield from ("# TYPE timpani_change info", "# HELP timpani_change The two campaigns.")
    yield f"timpani_change_info{_labels(about)} 1"
    rows = found.cells.to_dicts()
    for column, name, unit, description, factor in _GAUGES:
        yield f"# TYPE {name} gauge"
        if unit:
            yield f"# UNIT {name} {unit}"
        yield f"# HELP {name} {description}"
        for row in rows:
            if row[column] is not None:
                labels = {each: row[each] for each in (*_key(found), "standing")}
                yield f"{name}{_labels(labels)} {row[column] * factor!r}"


def _key(found: Changes) -> list[str]:
    return [*CHANGED_CELL, *(["machine"] if "machine" in found.cells.columns else [])]


def _sentence(row: Mapping[str, Any]) -> str:
    bounds = (row["ratio_low"], row["ratio_high"])
    interval = "no interval" if None in bounds else f"interval {bounds[0]:.3g} to {bounds[1]:.3g}"
    return f"A {row['before_us']:.4g} µs, B {row['after_us']:.4g} µs, A / B {row['ratio']:.3g}, {interval}"


def _labels(values: Mapping[str, Any]) -> str:
    def escape(text: str) -> str:
        return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")

    return "{" + ",".join(f'{name}="{escape(str(value))}"' for name, value in values.items()) + "}"


def _clean(text: str) -> str:
    """`text` without the characters that XML 1.0 forbids."""
    return _NOT_IN_XML.sub("?", text)
