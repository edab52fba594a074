"""The results of a confirmation: a page, and a summary of a few lines."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from timpani.campaign.folder.load import Campaign
from timpani.libraries.registry import library_title
from timpani.report.document.blocks import MISSING, Block, Bullets, Document, Heading, Sentence, Table, Value, rows
from timpani.stats.compare import ALPHA
from timpani.study.selection import Call, SelectionTable
from timpani.study.sizes import show_size, show_sizes
from timpani.study.words import counted, per_cent
from timpani.tune.confirmation import (
    EQUIVALENT,
    ConfirmedPoint,
    ConfirmedRatio,
    Proof,
    Unreached,
    mean_regret,
    with_regret,
)
from timpani.tune.setting_check import SettingPoint, losing, summaries
from timpani.tune.source_warnings import MadeFrom

PAGE = "confirmation.md"

_LEVEL = per_cent(1 - ALPHA)
"""Confidence level of the intervals."""

_COLUMNS = (
    *("collective", "ranks", "size", "files", "choice", f"choice's gain ({_LEVEL})", f"files' gain ({_LEVEL})"),
    *("files against default", "standing", "proof", "regret", "new size"),
)
_AGAINST_DEFAULT = {
    "faster": "significantly faster",
    "slower": "significantly slower",
    "not shown": "without a significant difference",
    "too few launches": "with too few launches to decide",
}
_CLOSE = f"{100 * (EQUIVALENT - 1):.0f} %"
_PROOFS: dict[Proof, str] = {
    "messages": "the message counts are those of the intended algorithm; where there is a rule, the default's differ",
    "times": f"messages can't distinguish the algorithms; the time equals the intended algorithm's within {_CLOSE}",
    "open": "neither messages nor times show which algorithm ran",
    "other": "the messages or the time are not those of the intended algorithm",
    "failed": "a launch gave no result or a wrong one",
}
_PROVEN: dict[Proof, str] = {
    "messages": "message counts prove at {} that the intended algorithm ran",
    "times": f"at {{}} only the time shows it: it equals the intended algorithm's within {_CLOSE}",
    "open": "at {} neither messages nor times show which algorithm ran",
    "other": "at {} the messages or the time are not those of the intended algorithm",
    "failed": "at {} a launch gave no result or a wrong one",
}
"""`_PROOFS` as phrases that take a number of points."""


EVERYTHING = Unreached()
"""A confirmation that measured all of its plan."""


def confirmed_lines(confirmed: Sequence[ConfirmedPoint], unreached: Unreached = EVERYTHING) -> Iterator[str]:
    """The verdict: points gained, kept and lost; the evidence; the regret at sizes not used for choosing."""
    ruled = [each for each in confirmed if each.algorithm]
    standings = Counter(each.standing for each in ruled)
    few = f", {standings['undecided']} with too few launches to decide" if standings["undecided"] else ""
    yield (
        f"Confirmation: {counted(len(ruled), 'point')} with a rule: {standings['gained']} faster than the default, "
        f"{standings['kept']} not significantly different{few}, {standings['lost']} slower"
        + (f", {standings['unknown']} unknown" if standings["unknown"] else "")
    )
    if unreached.calls:
        yield f"not confirmed, because the budget was spent before: {_places(unreached.calls)}"
    if unreached.others:
        yield (
            "The budget was too short to measure other algorithms, which may be faster than the rules: "
            "`timpani confirm` without a budget measures them"
        )
    if forced := [each for each in ruled if each.is_of_forced and each.standing != "unknown"]:
        yield _by_files(forced, len(ruled))
    if unknown := [each.call for each in confirmed if each.standing == "unknown"]:
        yield f"unknown, because the default or the choice has no time: {_places(unknown)}"
    proofs = Counter(each.proof for each in ruled if each.standing != "unknown")
    evidence = [words.format(counted(proofs[proof], "point")) for proof, words in _PROVEN.items() if proofs[proof]]
    if evidence:
        yield f"With the files switched on, {'; '.join(evidence)}"
    unruled = [each for each in confirmed if not each.algorithm]
    if slower := [each.call for each in unruled if each.standing == "lost"]:
        yield f"calls without a rule become slower or fail with the files: {_places(slower)}"
    if strays := [each.call for each in unruled if each.proof == "other" and each.standing != "lost"]:
        yield f"the files change calls without a rule: {_places(strays)}"
    files = sorted({each.file for each in confirmed})
    for file in files:
        of_file = [each for each in confirmed if each.file == file]
        if (regret := mean_regret(of_file)) is not None:
            mean, low, high = (100 * share for share in regret)
            whose = f"the choice of {file}" if len(files) > 1 else "the choice"
            yield (
                f"At {counted(len(with_regret(of_file)), 'size')} not used for choosing, {whose} takes {mean:.1f} % "
                f"longer than the fastest algorithm on average ({_LEVEL}: {low:.1f} to {high:.1f})"
            )


def confirmed_warnings(measured: MadeFrom, rules: MadeFrom) -> list[str]:
    """Warnings of the confirmation, then of the campaigns from which the rules were made."""
    return [*measured.warnings, *(f"in the campaigns of the rules: {warning}" for warning in rules.warnings)]


def confirmed_document(
    table: SelectionTable,
    confirmed: Sequence[ConfirmedPoint],
    campaign: Campaign,
    warnings: Sequence[str],
    unreached: Unreached = EVERYTHING,
    setting: Sequence[SettingPoint] = (),
) -> Document:
    """The page next to the files; `warnings` come from `confirmed_warnings`, `unreached` is that of the lines."""
    title = f"Confirmation of rules for {library_title(table.library, table.version)}"
    launches = counted(campaign.results["launch"].n_unique(), "launch")
    blocks: list[Block] = [
        Sentence("measured", f"Measured again in `{campaign.folder.name}`, with {launches}. {_ABOUT_LAUNCHES}"),
        Bullets("results", tuple(confirmed_lines(confirmed, unreached))),
        *(_believed(warnings) if warnings else ()),
        Table("points", _COLUMNS, rows(_row(each, unreached) for each in confirmed)),
        Sentence("proof", "Proof: " + "; ".join(f"`{proof}`: {words}" for proof, words in _PROOFS.items()) + "."),
        Sentence("standing", _ABOUT_STANDING),
        Sentence("regret", _ABOUT_REGRET),
        *_setting_blocks(setting),
    ]
    return Document(title, tuple(blocks))


def _believed(warnings: Sequence[str]) -> tuple[Block, ...]:
    return Heading("caveats", "Before you believe it"), Bullets("warnings", tuple(warnings))


_ABOUT_LAUNCHES = (
    "The choice and the default ran interleaved if the library can switch algorithms within a launch. The files were "
    "switched on in separate launches. If algorithms can be forced there too (MPICH), both kinds of launches compare "
    "the library with the same forced algorithms, so that effects of the machine on a launch cancel. Otherwise the "
    "ratios compare different launches."
)
_ABOUT_STANDING = (
    "Standing describes the library with its files if both kinds of launches force the same algorithms (MPICH). "
    "Otherwise it describes the rule's algorithm, selected directly. 'Files against default' compares the launches "
    "with the files with those of the default, at each point separately."
)
_ABOUT_REGRET = (
    "Regret is choice's time / best algorithm's time - 1. The best algorithm is selected from the same times, so "
    "regret is overestimated."
)


def _row(each: ConfirmedPoint, unreached: Unreached) -> tuple[str | int | Value, ...]:
    return (
        each.call.collective,
        each.call.ranks,
        Value(each.call.message_bytes, show=show_size),
        str(each.file),
        str(each.algorithm or "default"),
        _ratio(each.gain),
        _ratio(each.by_file),
        _against_default(each.by_file),
        each.standing,
        each.proof,
        MISSING if unreached.others else _regret(each),
        "yes" if each.test_size else "",
    )


def setting_lines(points: Sequence[SettingPoint]) -> Iterator[str]:
    """A line for each thing that was switched on: a setting alone, rules alone, both; nothing without a setting."""
    for each in summaries(points):
        yield (
            f"{each.name}: {each.gain:.2f} times as fast as the default on average (geometric mean of "
            f"{counted(each.points, 'point')}), significantly faster at {each.faster} and slower at {each.slower}"
        )
    if lost := losing(points):
        where = ", ".join(f"{each.collective} at {show_size(each.message_bytes)}" for each in lost)
        yield f"the setting alone is slower: {where}"


def _setting_blocks(points: Sequence[SettingPoint]) -> Iterator[Block]:
    """The part of the page with every point of a setting."""
    if not points:
        return
    yield Heading("setting", "Setting and rules")
    yield Bullets("setting_results", tuple(setting_lines(points)))
    about = f"Gains are the default's time over the time with it switched on, in blocks ({_LEVEL} interval)."
    yield Sentence("about_setting", about)
    columns = ("switched on", "collective", "ranks", "size", "gain", "against the default")
    found = (
        (
            each.what,
            each.collective,
            each.ranks,
            Value(each.message_bytes, show=show_size),
            _ratio(each.gain),
            "not significant" if not each.gain.significant else "faster" if each.gain.ratio > 1 else "slower",
        )
        for each in points
    )
    yield Table("setting_points", columns, rows(found))


def _by_files(forced: Sequence[ConfirmedPoint], ruled: int) -> str:
    """The result of the launches with files at the points whose standing describes the forced choice."""
    shown = Counter(_against_default(each.by_file) for each in forced)
    counts = ", ".join(f"{shown[word]} {words}" for word, words in _AGAINST_DEFAULT.items() if shown[word])
    where = "" if len(forced) == ruled else f" at {counted(len(forced), 'point')}"
    return (
        f"These launches selected the rules' algorithms directly{where}. Launches with the files switched on: {counts}"
    )


def _against_default(by_file: ConfirmedRatio | None) -> str:
    """Whether the library with its files is significantly faster or slower than the default."""
    if by_file is None or not by_file.is_bounded:
        return "too few launches"
    if not by_file.significant:
        return "not shown"
    return "faster" if by_file.ratio > 1 else "slower"


def _places(calls: Iterable[Call]) -> str:
    """The sizes of the calls, by collective."""
    sizes: dict[str, list[int]] = {}
    for call in calls:
        sizes.setdefault(call.collective, []).append(call.message_bytes)
    return "; ".join(f"{collective}, {show_sizes(each)}" for collective, each in sizes.items())


def _ratio(found: ConfirmedRatio | None) -> Value:
    if found is None:
        return MISSING
    detail = "" if found.is_bounded else "no interval: too few launches"
    return Value(found.ratio, found.low, found.high, detail=detail, show=lambda ratio: f"{ratio:.2f}")


def _regret(each: ConfirmedPoint) -> Value:
    if each.standing == "unknown" or each.proof == "failed":
        return MISSING
    if not each.regret.ratio:
        return Value(0)
    return Value(each.regret.ratio, detail=str(each.best), show=lambda regret: f"{100 * regret:.1f} %")
