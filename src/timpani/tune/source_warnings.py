"""What to know of the campaigns that rules, or a confirmation, are made from: it goes along with what is made."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from timpani.campaign.folder.load import Campaign, load
from timpani.judge.cell_table import estimate_cells
from timpani.judge.decide import decide
from timpani.judge.raced import raced_results
from timpani.judge.verdict import Verdict
from timpani.report.verdict.answer import another_job, answer_sentence, holds_for
from timpani.report.verdict.verdict_text import conditions, verdict_of
from timpani.study.words import counted

_NUMBER = re.compile(r"\d[\d.]*")


@dataclass(frozen=True)
class MadeFrom:
    """The verdict on campaigns, taken together, and what `timpani verdict` warns of in them."""

    verdict: Verdict
    warnings: tuple[str, ...]

    def without_rule(self) -> Iterator[str]:
        """Why there is no rule at all, a sentence each."""
        verdict = self.verdict
        if not verdict.decided:
            yield "no rule: nothing was compared with the default"
        elif not verdict.is_conclusive:
            advice = f"; {verdict.launches_advice}" if verdict.launches_advice else ""
            yield (
                f"too few launches for a rule: {counted(verdict.undecided, 'point')} undecided after "
                f"{counted(verdict.launches, 'launch')}, and a comparison takes {verdict.launches_needed}{advice}"
            )
        elif verdict.slower:
            yield (
                "no rule can select the faster algorithms: no file can name them, or they are slower in some placement"
            )
            yield answer_sentence(verdict)
        else:
            none = "no algorithm is shown to be faster than the default"
            yield f"no rule yet: {none}" if verdict.undecided else f"no rule is needed: {none}"
            yield answer_sentence(verdict)
            if verdict.too_busy:
                yield verdict.too_busy
            elif verdict.decide_command:
                yield f"To decide more: {verdict.decide_command}"


def made_from(folders: Sequence[Path], together: Campaign) -> MadeFrom:
    """Of the campaigns in `folders`, which are `together`."""
    verdict = verdict_of(together, decide(raced_results(together)), estimate_cells(raced_results(together)))
    if len(folders) == 1:
        found = list(conditions(together))
    else:
        found = merged({each.resolve().name: list(conditions(load(each))) for each in folders})
    return MadeFrom(verdict, (*_of_one_job(verdict), *found, *verdict.warnings))


def _of_one_job(verdict: Verdict) -> Iterator[str]:
    """That rules and gains hold in the one job that measured them."""
    scope = verdict.scope
    if scope and scope.jobs == 1 and not verdict.simulated:
        noun, text = scope.noun, another_job(scope).text
        yield f"measured in one {noun} {holds_for(scope).removeprefix(f'in this {noun} ')}. {text.removesuffix('.')}"


def merged(warnings: Mapping[str, Sequence[str]]) -> list[str]:
    """One warning for each thing that several campaigns warn of: which they are, and the figures of the first.

    warnings  by the campaign's name. Those that agree up to their first colon, but for numbers, warn of one thing.
    """
    by_subject: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    for name, each in warnings.items():
        for warning in each:
            by_subject[_NUMBER.sub("", warning.split(": ")[0])].append((name, warning))
    return [_of_campaigns(found, len(warnings)) for found in by_subject.values()]


def _of_campaigns(found: Sequence[tuple[str, str]], campaigns: int) -> str:
    (name, warning), *others = found
    if not others:
        return f"{name}: {warning}"
    which = "all" if len(found) == campaigns else ", ".join(each for each, _ in found)
    subject, _, first = warning.partition(": ")
    example = f"; in {name}: {first}" if first else ""
    return f"{subject}, {len(found)} of {counted(campaigns, 'campaign')} ({which}){example}"
