"""The results of a confirmation: a page in Markdown and a summary of a few lines."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from timpani.campaign.folder.load import Campaign
from timpani.libraries.registry import library_title
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
from timpani.tune.pages.source_warnings import MadeFrom

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
            "compared with the default alone: the budget is too short for other algorithms, so one of them may be "
            "faster than the rules; `timpani confirm` without a budget measures them"
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


def confirmed_page(
    table: SelectionTable,
    confirmed: Sequence[ConfirmedPoint],
    campaign: Campaign,
    warnings: Sequence[str],
    unreached: Unreached = EVERYTHING,
) -> str:
    """The page next to the files; `warnings` come from `confirmed_warnings`, `unreached` is that of the lines."""
    launches = counted(campaign.results["launch"].n_unique(), "launch")
    believed = ["## Before you believe it", "", *(f"- {warning}" for warning in warnings), ""] if warnings else []
    lines = [
        f"# Confirmation of rules for {library_title(table.library, table.version)}",
        "",
        f"Measured again in `{campaign.folder.name}`, with {launches}.",
        "The choice and the default ran interleaved if the library can switch algorithms within a launch. The files",
        "were switched on in separate launches. If algorithms can be forced there too (MPICH), both kinds of launches",
        "compare the library with the same forced algorithms, so that effects of the machine on a launch cancel.",
        "Otherwise the ratios compare different launches.",
        "",
        *(f"- {line}" for line in confirmed_lines(confirmed, unreached)),
        "",
        *believed,
        f"| {' | '.join(_COLUMNS)} |",
        "|---" * len(_COLUMNS) + "|",
        *(
            f"| {each.call.collective} | {each.call.ranks} | {show_size(each.call.message_bytes)} | "
            f"{each.file} | "
            f"{each.algorithm or 'default'} | {_ratio(each.gain)} | {_ratio(each.by_file)} | "
            f"{_against_default(each.by_file)} | {each.standing} | "
            f"{each.proof} | {'–' if unreached.others else _regret(each)} | {'yes' if each.test_size else ''} |"
            for each in confirmed
        ),
        "",
        "Proof: " + "; ".join(f"`{proof}`: {words}" for proof, words in _PROOFS.items()) + ".",
        "Standing describes the library with its files if both kinds of launches force the same algorithms (MPICH).",
        "Otherwise it describes the rule's algorithm, selected directly. 'Files against default' compares the launches",
        "with the files with those of the default, at each point separately.",
        "",
        "Regret is choice's time / best algorithm's time - 1. The best algorithm is selected from the same times, so",
        "regret is overestimated.",
        "",
    ]
    return "\n".join(lines)


def _by_files(forced: Sequence[ConfirmedPoint], ruled: int) -> str:
    """The result of the launches with files at the points whose standing describes the forced choice."""
    shown = Counter(_against_default(each.by_file) for each in forced)
    counts = ", ".join(f"{shown[word]} {words}" for word, words in _AGAINST_DEFAULT.items() if shown[word])
    where = "Measured" if len(forced) == ruled else f"At {counted(len(forced), 'point')} measured"
    interleaved = (
        ", interleaved with the default" if all(each.gain and each.gain.min_p_value for each in forced) else ""
    )
    return f"{where} with the rules' algorithms selected directly{interleaved}; with the files switched on: {counts}"


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


def _ratio(found: ConfirmedRatio | None) -> str:
    if found is None:
        return "–"
    bounds = "–".join("?" if bound is None else f"{bound:.2f}" for bound in (found.low, found.high))
    return f"{found.ratio:.2f} ({bounds})"


def _regret(each: ConfirmedPoint) -> str:
    if each.standing == "unknown" or each.proof == "failed":
        return "–"
    if not each.regret.ratio:
        return "0"
    return f"{100 * each.regret.ratio:.1f} % ({each.best})"
