"""The grammar of the report that mpiP writes as a program ends.

Seen: mpiP 3.4.1 and its source of 2025 (github.com/LLNL/mpiP, `report.c`). Figures have three digits, sums four.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from timpani.errors import UserError, shortened
from timpani.reading import open_regular, read_bytes

_STEP = "name a whole report that mpiP wrote, PROGRAM.RANKS.PID.NUMBER.mpiP"
_FIRST_LINE = "@ mpiP"
_END = "End of Report"
_SETTING = re.compile(r"@ (?P<name>[^:]+?) *: ?(?P<value>.*)")
_HEADING = re.compile(r"@--- (?P<title>.+?)(?:: (?P<count>\d{1,9}))?(?: -*)?", re.ASCII)
_RULE = re.compile(r"-{20,}")
_SITE = re.compile(
    r"(?P<site>\d{1,9}) +(?P<level>\d{1,4}) +"
    r"(?:(?P<address>0x[0-9a-f]+)|(?P<file>\S.*?) +(?P<line>\d{1,9})) +(?P<rest>\S.*)",
    re.ASCII,
)
_NUMBER = re.compile(r"\d{1,18}(?:\.\d{1,9})?(?:e[+-]\d\d)?", re.ASCII)
_MAX_SHOWN_CHARACTERS = 100

_REPEATED = re.compile(r"Aggregate .*")
"""Sections of the largest figures of the others."""

_LEFT_OUT = re.compile(r"Callsite (?P<of>I/O|RMA) statistics \(all, .*\)")
"""Bytes of files and of one-sided calls, which a profile has no place for."""

_CONCISE = re.compile(r"Task Time Statistics \(seconds\)|Callsite .*\(all callsites, .*\)")


@dataclass(frozen=True)
class SiteTime:
    """The calls of one function at one call site.

    rank  None: of all ranks together
    """

    call: str
    site: int
    rank: int | None
    calls: int
    longest_ms: float
    mean_ms: float


@dataclass(frozen=True)
class SiteBytes:
    """Bytes that the calls of one function at one call site passed, of all ranks together.

    calls  those of the ranks that passed any
    """

    calls: int
    largest: float
    smallest: float
    total: float


@dataclass
class MpipReport:
    """What a report holds.

    settings  the lines before the figures, the last of each name
    hosts     of each rank
    seconds   of each rank from MPI_Init to MPI_Finalize
    places    the functions that called, the innermost first, by the number of the call site
    sent      by function and call site
    left_out  `I/O` and `RMA`, where the report has bytes of such calls
    """

    path: Path
    settings: dict[str, str] = field(default_factory=dict)
    hosts: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    places: dict[int, list[str]] = field(default_factory=dict)
    times: list[SiteTime] = field(default_factory=list)
    sent: dict[tuple[str, int], SiteBytes] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)


def is_mpip_report(path: Path) -> bool:
    """Whether a file begins as mpiP's reports do."""
    try:
        with open_regular(path) as file:
            return file.readline(100).strip() == _FIRST_LINE.encode()
    except OSError:
        return False


def read_mpip_report(path: Path) -> MpipReport:
    """The report in `path`; UserError with file and line where it has a line that mpiP does not write, or no end."""
    lines = read_bytes(path, _STEP).decode("utf-8", errors="replace").splitlines()
    reader = _Reader(path)
    for number, line in enumerate(lines, 1):
        reader.take(number, line.strip())
    return reader.whole(len(lines))


class _Reader:
    """Goes through a report line by line: first its settings, then sections with a heading and columns."""

    def __init__(self, path: Path) -> None:
        self.report = MpipReport(path)
        self._number = 0
        self._title = ""
        self._columns: str | None = None
        self._sites: int | None = None
        self._sections: Mapping[str, tuple[str, Callable[[str], None]]] = {
            "MPI Time (seconds)": ("Task AppTime MPITime MPI%", self._take_rank),
            "Callsites": ("ID Lev File/Address Line Parent_Funct MPI_Call", self._take_site),
            "Callsite Time statistics (all, milliseconds)": (
                "Name Site Rank Count Max Mean Min App% MPI%",
                self._take_time,
            ),
            "Callsite Message Sent statistics (all, sent bytes)": (
                "Name Site Rank Count Max Mean Min Sum",
                self._take_sent,
            ),
        }

    def take(self, number: int, line: str) -> None:
        """The next line, without blanks at both ends."""
        self._number = number
        if number == 1:
            if line != _FIRST_LINE:
                raise self._refused(line)
        elif not line or _RULE.fullmatch(line):
            return
        elif heading := _HEADING.fullmatch(line):
            self._begin(line, heading)
        elif not self._title:
            self._take_setting(line)
        elif self._columns:
            if " ".join(line.split()) != self._columns:
                raise self._refused(line)
            self._columns = None
        elif self._title in self._sections:
            self._sections[self._title][1](line)
        elif self._title == _END:
            raise self._refused(line)

    def whole(self, lines: int) -> MpipReport:
        """The report after its last line; UserError where parts of it are lost."""
        report = self.report
        if self._title != _END:
            raise UserError(f"{report.path} ends at line {lines}, before the line '{_END}'", _STEP)
        if not report.hosts or len(report.seconds) != len(report.hosts):
            why = f"{len(report.hosts)} lines 'MPI Task Assignment' and the times of {len(report.seconds)} ranks"
            raise UserError(f"{report.path} has {why}", _STEP)
        if self._sites not in (None, len(report.places)):
            raise UserError(f"{report.path} has {len(report.places)} of {self._sites} call sites", _STEP)
        found = {(each.call, each.site) for each in report.times}
        summed = [(each.call, each.site) for each in report.times if each.rank is None]
        for call, site in sorted(found - set(summed)):
            raise UserError(f"{report.path} lacks the line of all ranks (*) for {call} at site {site}", _STEP)
        if len(summed) > len(found):
            raise UserError(f"{report.path} has two lines of all ranks (*) for one call site", _STEP)
        if self._sites is not None and (unknown := {site for _, site in found} - report.places.keys()):
            raise UserError(f"{report.path} does not say where call site {min(unknown)} is", _STEP)
        return report

    def _begin(self, line: str, heading: re.Match[str]) -> None:
        self._title = heading["title"]
        if _CONCISE.fullmatch(self._title):
            where = f"{self.report.path}:{self._number}"
            raise UserError(f"{where} begins a concise report, which has no numbers of calls", "run mpiP without -c")
        if self._title in self._sections:
            self._columns = self._sections[self._title][0]
        elif section := _LEFT_OUT.fullmatch(self._title):
            self.report.left_out.append(section["of"])
        elif self._title != _END and not _REPEATED.fullmatch(self._title):
            raise self._refused(line)
        if self._title == "Callsites" and heading["count"]:
            self._sites = int(heading["count"])

    def _take_setting(self, line: str) -> None:
        setting = _SETTING.fullmatch(line)
        if not setting:
            raise self._refused(line)
        self.report.settings[setting["name"]] = setting["value"].strip()
        if setting["name"] == "MPI Task Assignment":
            rank, _, host = setting["value"].partition(" ")
            if rank != str(len(self.report.hosts)) or not host.strip():
                raise self._refused(line)
            self.report.hosts.append(host.strip())

    def _take_rank(self, line: str) -> None:
        words = self._split(line, 4)
        seconds = self._figure(words[1], line)
        if words[0] != "*":
            if words[0] != str(len(self.report.seconds)):
                raise self._refused(line)
            self.report.seconds.append(seconds)

    def _take_site(self, line: str) -> None:
        """One level of a call site. Its first level ends with the name of the MPI function, which `_take_time` has."""
        level = _SITE.fullmatch(line)
        if not level:
            raise self._refused(line)
        levels = self.report.places.setdefault(int(level["site"]), [])
        if int(level["level"]) != len(levels):
            raise self._refused(line)
        function = level["rest"] if levels else level["rest"].rpartition(" ")[0].strip()
        if not function:
            raise self._refused(line)
        where = level["address"] or f"{level['file']}:{level['line']}"
        levels.append(where if function == "[unknown]" else f"{where} {function}")

    def _take_time(self, line: str) -> None:
        words = self._split(line, 9)
        longest, mean = (self._figure(words[each], line) for each in (4, 5))
        calls = self._count(words[3], line)
        self.report.times.append(SiteTime(words[0], *self._site_and_rank(words, line), calls, longest, mean))

    def _take_sent(self, line: str) -> None:
        words = self._split(line, 8)
        site, rank = self._site_and_rank(words, line)
        largest, _, smallest, total = (self._figure(word, line) for word in words[4:])
        if rank is None:
            self.report.sent[words[0], site] = SiteBytes(self._count(words[3], line), largest, smallest, total)

    def _site_and_rank(self, words: list[str], line: str) -> tuple[int, int | None]:
        rank = None if words[2] == "*" else self._count(words[2], line)
        if rank is not None and rank >= len(self.report.hosts):
            raise self._refused(line)
        return self._count(words[1], line), rank

    def _split(self, line: str, count: int) -> list[str]:
        words = line.split()
        if len(words) != count:
            raise self._refused(line)
        return words

    def _count(self, word: str, line: str) -> int:
        if not re.fullmatch(r"\d{1,15}", word, re.ASCII):
            raise self._refused(line)
        return int(word)

    def _figure(self, word: str, line: str) -> float:
        if not _NUMBER.fullmatch(word):
            raise self._refused(line)
        return float(word)

    def _refused(self, line: str) -> UserError:
        where = f"{self.report.path}:{self._number}"
        section = f" under '{self._title}'" if self._title else ""
        return UserError(
            f"{where} is no line of mpiP's report{section}: {shortened(line, _MAX_SHOWN_CHARACTERS)!r}", _STEP
        )
