"""What was confirmed of a table, in Markdown and in a few lines."""

from collections import Counter
from collections.abc import Iterator, Sequence

from timpani.campaign.folder.load import Campaign
from timpani.report.tuned.source_warnings import MadeFrom
from timpani.rules.confirm.confirmation import (
    EQUIVALENT,
    ConfirmedPoint,
    ConfirmedRatio,
    Proof,
    mean_regret,
    with_regret,
)
from timpani.stats.compare import ALPHA
from timpani.study.counted import counted, per_cent
from timpani.study.sizes import show_size, show_sizes
from timpani.tuning.decide.selection_table import SelectionTable

PAGE = "confirmation.md"

_LEVEL = per_cent(1 - ALPHA)
"""Of the intervals."""

_COLUMNS = (
    *("collective", "ranks", "size", "files", "choice", f"choice's gain ({_LEVEL})", f"files' gain ({_LEVEL})"),
    *("files against default", "standing", "proof", "regret", "new size"),
)
_AGAINST_DEFAULT = {
    "faster": "shown to gain",
    "slower": "shown to lose",
    "not shown": "not shown to differ",
    "too few launches": "with too few launches to tell",
}
_CLOSE = f"{100 * (EQUIVALENT - 1):.0f} %"
_PROOFS: dict[Proof, str] = {
    "messages": "message counts are the intended algorithm's, and where there is a rule not the default's",
    "times": f"messages can't tell; the time is the intended algorithm's, to within {_CLOSE}",
    "open": "neither messages nor times can tell",
    "other": "messages, or the time, are not the intended algorithm's",
    "failed": "a launch gave no result, or a wrong one",
}
_PROVEN: dict[Proof, str] = {
    "messages": "message counts show at {} that the intended algorithm ran",
    "times": f"at {{}} messages can't tell, and the time is the intended algorithm's, to within {_CLOSE}",
    "open": "at {} neither messages nor times can tell which algorithm ran",
    "other": "at {} messages, or the time, are not the intended algorithm's",
    "failed": "at {} a launch gave no result, or a wrong one",
}
"""What `_PROOFS` says, of so many points."""


def confirmed_lines(confirmed: Sequence[ConfirmedPoint]) -> Iterator[str]:
    """The verdict: points gained, kept, lost; what proves it; regret where nothing was measured before."""
    ruled = [each for each in confirmed if each.algorithm]
    standings = Counter(each.standing for each in ruled)
    few = f", {standings['undecided']} with too few launches to tell" if standings["undecided"] else ""
    yield (
        f"Confirmed anew: of {counted(len(ruled), 'point')} with a rule {standings['gained']} gained, "
        f"{standings['kept']} not shown to differ from the default{few}, {standings['lost']} lost"
        + (f", {standings['unknown']} unknown" if standings["unknown"] else "")
    )
    if forced := [each for each in ruled if each.is_of_forced and each.standing != "unknown"]:
        yield _by_files(forced, len(ruled))
    if unknown := [each for each in confirmed if each.standing == "unknown"]:
        yield f"unknown, since the default or the choice has no time there: {_places(unknown)}"
    proofs = Counter(each.proof for each in ruled if each.standing != "unknown")
    told = [words.format(counted(proofs[proof], "point")) for proof, words in _PROVEN.items() if proofs[proof]]
    if told:
        yield f"With the files switched on, {'; '.join(told)}"
    unruled = [each for each in confirmed if not each.algorithm]
    if slower := [each for each in unruled if each.standing == "lost"]:
        yield f"the files make calls slower, or fail, that they have no rule for: {_places(slower)}"
    if strays := [each for each in unruled if each.proof == "other" and each.standing != "lost"]:
        yield f"the files change calls that they have no rule for: {_places(strays)}"
    files = sorted({each.file for each in confirmed})
    for file in files:  # a call is replaced by ours, or left to the library and its files
        of_file = [each for each in confirmed if each.file == file]
        if (regret := mean_regret(of_file)) is not None:
            mean, low, high = (100 * share for share in regret)
            whose = f"what {file} chooses takes" if len(files) > 1 else "the choice takes"
            yield (
                f"At {counted(len(with_regret(of_file)), 'size')} that chose no rule {whose} {mean:.1f} % longer than "
                f"the fastest algorithm, on average ({_LEVEL}: {low:.1f} to {high:.1f})"
            )


def confirmed_warnings(measured: MadeFrom, rules: MadeFrom) -> list[str]:
    """What to know of the confirmation, then of the campaigns that the rules were made from."""
    return [*measured.warnings, *(f"where the rules were made: {warning}" for warning in rules.warnings)]


def confirmed_page(
    table: SelectionTable, confirmed: Sequence[ConfirmedPoint], campaign: Campaign, warnings: Sequence[str]
) -> str:
    """The page beside the files; `warnings` are those of `confirmed_warnings`."""
    launches = counted(campaign.results["launch"].n_unique(), "launch")
    believed = ["## Before you believe it", "", *(f"- {warning}" for warning in warnings), ""] if warnings else []
    lines = [
        f"# Confirmation of rules for {table.library} {table.version}",
        "",
        f"Measured anew in `{campaign.folder.name}`, with {launches}.",
        "The choice and the default took turns where the library can switch inside a launch; files were switched on in",
        "launches of their own. Where algorithms can be forced there too (MPICH), the library is compared with them in",
        "both, and what the machine does to a launch cancels; elsewhere these ratios are of launches apart.",
        "",
        *(f"- {line}" for line in confirmed_lines(confirmed)),
        "",
        *believed,
        f"| {' | '.join(_COLUMNS)} |",
        "|---" * len(_COLUMNS) + "|",
        *(
            f"| {each.call.collective} | {each.call.ranks} | {show_size(each.call.message_bytes)} | "
            f"{each.file} | "
            f"{each.algorithm or 'default'} | {_ratio(each.gain)} | {_ratio(each.by_file)} | "
            f"{_against_default(each.by_file)} | {each.standing} | "
            f"{each.proof} | {_regret(each)} | {'yes' if each.test_size else ''} |"
            for each in confirmed
        ),
        "",
        "Proof: " + "; ".join(f"`{proof}`: {words}" for proof, words in _PROOFS.items()) + ".",
        "Standing is of the library with its files where it is compared with the default in turn with the same",
        "algorithms (MPICH), else of the rule's algorithm, selected directly. 'Files against default' is what launches",
        "with the files switched on show at each point by themselves.",
        "",
        "Regret is the choice's time over the best algorithm's, less 1. The best is chosen from the same times, which",
        "makes regret look larger than it is.",
        "",
    ]
    return "\n".join(lines)


def _by_files(forced: Sequence[ConfirmedPoint], ruled: int) -> str:
    """What launches with the files switched on show by themselves of points that are judged by the forced choice."""
    shown = Counter(_against_default(each.by_file) for each in forced)
    counts = ", ".join(f"{shown[word]} {words}" for word, words in _AGAINST_DEFAULT.items() if shown[word])
    where = "Measured" if len(forced) == ruled else f"At {counted(len(forced), 'point')} measured"
    in_turn = ", in turn with the default" if all(each.gain and each.gain.min_p_value for each in forced) else ""
    return f"{where} with the rules' algorithms selected directly{in_turn}; with the files switched on: {counts}"


def _against_default(by_file: ConfirmedRatio | None) -> str:
    """Whether the library with its files is shown to be faster than the default, or slower."""
    if by_file is None or not by_file.is_bounded:
        return "too few launches"
    if not by_file.significant:
        return "not shown"
    return "faster" if by_file.ratio > 1 else "slower"


def _places(confirmed: Sequence[ConfirmedPoint]) -> str:
    """By collective at how many sizes, and which."""
    sizes: dict[str, list[int]] = {}
    for each in confirmed:
        sizes.setdefault(each.call.collective, []).append(each.call.message_bytes)
    return "; ".join(f"{collective}, {show_sizes(of)}" for collective, of in sizes.items())


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
