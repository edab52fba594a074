"""Rules among the library's algorithms, from a campaign, for the preloaded library."""

from timpani.campaign.folder.load import Campaign
from timpani.campaign.read.context import machine_layouts
from timpani.judge.choose_rules import rule_line, select, warnings
from timpani.judge.raced import raced_results
from timpani.libraries.registry import LIBRARIES
from timpani.libraries.rules import library_rule
from timpani.study.selection import Rule
from timpani.tune.from_campaign import installed_library


def library_choices(campaign: Campaign, mpi_wanted: str | None) -> tuple[list[str], list[str], list[Rule]]:
    """A rule wherever one of the library's algorithms was significantly faster than its default.

    Lines of a file of rules, what these cost calls that they do not replace, and the rules whose algorithm only a whole
    launch can be set to. `mpi_wanted` and UserError as of `installed_library`.
    """
    mpi = installed_library(campaign, mpi_wanted)
    catalogue = LIBRARIES[mpi.kind].algorithms.catalogue(mpi)
    rules = select(raced_results(campaign.of_variant()), machine_layouts(campaign), mpi.kind).rules
    named = [(rule, library_rule(mpi, catalogue, rule.collective, rule.algorithm)) for rule in rules]
    return (
        [rule_line(rule, text) for rule, text in named if text is not None],
        warnings(rule for rule, text in named if text is not None),
        [rule for rule, text in named if text is None],
    )
