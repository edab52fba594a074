"""What was confirmed of a table, in Markdown and in a few lines."""

from collections import Counter
from collections.abc import Iterator, Sequence

from timpani.campaign.load import Campaign
from timpani.study.counted import counted
from timpani.study.sizes import show_size, show_sizes
from timpani.tuned.confirmation import EQUIVALENT, Confirmed, Proof, Ratio, mean_regret, with_regret
from timpani.tuning.table import SelectionTable

PAGE = "confirmation.md"

_COLUMNS = (
    *("collective", "ranks", "size", "files", "choice", "gain (95 %)", "by the files (95 %)", "standing", "proof"),
    *("regret", "new size"),
)
_PROOFS: dict[Proof, str] = {
    "messages": "its messages are the choice's, and not the default's where there is a rule",
    "times": f"messages can't tell; its time is the choice's, to within {100 * (EQUIVALENT - 1):.0f} %",
    "open": "neither messages nor times can tell",
    "other": "it ran something else",
    "failed": "a launch gave no result, or a wrong one",
}


def confirmed_lines(confirmed: Sequence[Confirmed]) -> Iterator[str]:
    """The verdict: points gained, kept, lost; what proves it; regret where nothing was measured before."""
    ruled = [each for each in confirmed if each.algorithm]
    standings = Counter(each.standing for each in ruled)
    yield (
        f"Confirmed anew: of {counted(len(ruled), 'point')} with a rule {standings['gained']} gained, "
        f"{standings['kept']} not shown to differ from the default, {standings['lost']} lost"
        + (f", {standings['unknown']} unknown" if standings["unknown"] else "")
    )
    if unknown := [each for each in confirmed if each.standing == "unknown"]:
        yield f"unknown, since the default or the choice has no time there: {_places(unknown)}"
    proofs = Counter(each.proof for each in ruled if each.standing != "unknown")
    told = ", ".join(f"{proofs[proof]}: {words}" for proof, words in _PROOFS.items() if proofs[proof])
    yield f"with the files switched on, by points: {told}"
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
            where = f"{counted(len(with_regret(of_file)), 'size')} held out"
            by = f" by {file}" if len(files) > 1 else ""
            interval = f"{mean:.1f} % (95 %: {low:.1f} to {high:.1f})"
            yield f"mean regret{by} at {where}: {interval}, against the best algorithm there, whoever's it is"


def confirmed_page(table: SelectionTable, confirmed: Sequence[Confirmed], campaign: Campaign) -> str:
    """The page beside the files."""
    lines = [
        f"# Confirmation of rules for {table.library} {table.version}",
        "",
        f"Measured anew in `{campaign.folder.name}`, with {counted(campaign.results['launch'].n_unique(), 'launch')}.",
        "The choice and the default took turns where the library can switch inside a launch; files were switched on in",
        "launches of their own. Where algorithms can be forced there too (MPICH), the library is compared with them in",
        "both, and what the machine does to a launch cancels; elsewhere these ratios are of launches apart.",
        "",
        *(f"- {line}" for line in confirmed_lines(confirmed)),
        "",
        f"| {' | '.join(_COLUMNS)} |",
        "|---" * len(_COLUMNS) + "|",
        *(
            f"| {each.call.collective} | {each.call.ranks} | {show_size(each.call.message_bytes)} | "
            f"{each.file} | "
            f"{each.algorithm or 'default'} | {_ratio(each.gain)} | {_ratio(each.by_file)} | {each.standing} | "
            f"{each.proof} | {_regret(each)} | {'yes' if each.held_out else ''} |"
            for each in confirmed
        ),
        "",
        "Proof: " + "; ".join(f"`{proof}`: {words}" for proof, words in _PROOFS.items()) + ".",
        "Regret is the choice's time over the best algorithm's, less 1. The best is chosen from the same times, which",
        "makes regret look larger than it is.",
        "",
    ]
    return "\n".join(lines)


def _places(confirmed: Sequence[Confirmed]) -> str:
    """By collective at how many sizes, and which."""
    sizes: dict[str, list[int]] = {}
    for each in confirmed:
        sizes.setdefault(each.call.collective, []).append(each.call.message_bytes)
    return "; ".join(f"{collective}, {show_sizes(of)}" for collective, of in sizes.items())


def _ratio(found: Ratio | None) -> str:
    if found is None:
        return "–"
    bounds = "–".join("?" if bound is None else f"{bound:.2f}" for bound in (found.low, found.high))
    return f"{found.ratio:.2f} ({bounds})"


def _regret(each: Confirmed) -> str:
    if each.standing == "unknown" or each.proof == "failed":
        return "–"
    if not each.regret.ratio:
        return "0"
    return f"{100 * each.regret.ratio:.1f} % ({each.best})"
