"""A profile from the report that mpiP wrote: calls, bytes and times of each call site, as far as it has them."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from pydantic import ValidationError

from timpani.errors import UserError, wrong
from timpani.programs.imported.imported_calls import UNKNOWN, call_form, rank_line
from timpani.programs.imported.mpip_report import MpipReport, SiteTime, read_mpip_report
from timpani.programs.profile.profile_folder import ProfileHeader, ProfileWriter, ProgramProfile, read_profile
from timpani.programs.profile.profile_lines import VERSION, CallsLine, Form, ProgramLine, RankLine, part_bytes

_NS_PER_MS = 1e6

_NOT_RECORDED = (
    "mpiP does not record communicators, operators, datatypes, roots, waiting for late ranks, or algorithms; each "
    "rank's call of a collective counts"
)


def import_mpip(path: Path, folder: Path) -> ProgramProfile:
    """Write the report in `path` as a profile into the new `folder`, and read it.

    UserError where the folder holds anything, or the report has a line that mpiP does not write.
    """
    report = read_mpip_report(path)
    command = _setting(report, "Command").split()
    version = _setting(report, "Version")
    header = ProfileHeader(
        command=tuple(command), source=f"mpiP {version}", notes=tuple(_notes(report, version)), began=_began(report)
    )
    count = len(report.hosts)
    try:
        program = ProgramLine(version=VERSION, reporting=count, world_ranks=count, note="", clocks=0, clock_error_ns=0)
        part = part_bytes(program, _rank_lines(report, Path(command[0]).name), _calls_lines(report))
    except ValidationError as error:
        raise UserError(f"{path}: {wrong(dict(error.errors()[0]))}", "name a report that mpiP wrote") from None
    writer = ProfileWriter(folder, header)
    writer.add_part(part)
    writer.seal(0, None)
    return read_profile(folder)


def _notes(report: MpipReport, version: str) -> Iterator[str]:
    yield f"from a report of mpiP {version}, whose times have three digits"
    yield _NOT_RECORDED
    if report.left_out:
        yield f"left out: the bytes of its sections {' and '.join(report.left_out)}; calls and times are in the profile"
    if re.search(r"-t *\d", report.settings.get("MPIP env var", "")):
        yield "mpiP left out ranks with little time (-t): the time of the longest rank is a lower bound"


def _rank_lines(report: MpipReport, program: str) -> list[RankLine]:
    """Each rank with its time in calls of each form, as far as the report lists it."""
    spent = defaultdict[int, Counter[Form]](Counter)
    for each in report.times:
        if each.rank is not None:
            spent[each.rank][call_form(each.call)[0]] += _ns(each)
    return [
        rank_line(rank, host, program, seconds, spent[rank])
        for rank, (host, seconds) in enumerate(zip(report.hosts, report.seconds, strict=True))
    ]


def _calls_lines(report: MpipReport) -> Iterator[CallsLine]:
    """Each function at each place. mpiP may number one place once for each rank."""
    places = {site: " < ".join(levels) for site, levels in report.places.items()}
    by_place = defaultdict[tuple[str, str], list[SiteTime]](list)
    for each in report.times:
        by_place[each.call, places.get(each.site, "")].append(each)
    for (call, place), times in by_place.items():
        yield _calls_line(report, call, place, times)


def _calls_line(report: MpipReport, call: str, place: str, times: list[SiteTime]) -> CallsLine:
    form, name = call_form(call)
    totals = [each for each in times if each.rank is None]
    calls = sum(each.calls for each in totals)
    sent = [report.sent[call, each.site] for each in totals if (call, each.site) in report.sent]
    all_sent = sum(each.calls for each in sent) == calls
    smallest = round(min(each.smallest for each in sent)) if sent and all_sent else 0
    largest = round(max((each.largest for each in sent), default=0))
    longest_ns = round(max(each.longest_ms for each in totals) * _NS_PER_MS)
    of_rank = Counter[int]()
    for each in times:
        if each.rank is not None:
            of_rank[each.rank] += _ns(each)
    own_blocks = form != "message" and name.endswith(("v", "w"))
    one_size = sent and all_sent and not own_blocks and smallest.bit_length() == largest.bit_length()
    values = {
        "name": name,
        "form": form,
        "size_class": largest.bit_length() if one_size else -1,
        "site": place,
        "calls": calls,
        "bytes": round(sum(each.total for each in sent)),
        "smallest_bytes": smallest,
        "largest_bytes": largest,
        "ns": sum(map(_ns, totals)),
        "ns_max": max([longest_ns, *of_rank.values()]),
        "longest_ns": longest_ns,
    }
    return CallsLine.model_validate({**UNKNOWN, **values})


def _ns(each: SiteTime) -> int:
    return round(each.calls * each.mean_ms * _NS_PER_MS)


def _setting(report: MpipReport, name: str) -> str:
    value = report.settings.get(name, "")
    if not value:
        raise UserError(f"{report.path} has no line '@ {name} : …'", "restore that line")
    return value


def _began(report: MpipReport) -> str:
    """When the program began, without a time zone, which the report lacks."""
    text = _setting(report, "Start time")
    try:
        return datetime.strptime(text, "%Y %m %d %H:%M:%S").isoformat()
    except ValueError:
        raise UserError(f"{report.path}: {text!r} is no start time of mpiP", "restore that line") from None
