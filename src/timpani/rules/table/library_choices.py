"""Rules among the library's algorithms, from a campaign, for the preloaded library."""

from dataclasses import dataclass

from timpani.campaign.folder.load import Campaign
from timpani.campaign.read.context import machine_layouts
from timpani.errors import UserError
from timpani.libraries.find import choose_mpi
from timpani.libraries.registry import LIBRARIES
from timpani.providers.library_rules import library_rule
from timpani.tuning.decide.choose_rules import select
from timpani.tuning.decide.replacements import rule_line, warnings
from timpani.tuning.decide.selection_table import Rule


@dataclass(frozen=True)
class LibraryChoices:
    """Lines of a file of rules, what these cost calls that they do not replace, and the rules whose algorithm only a
    whole launch can be set to."""

    lines: tuple[str, ...]
    costs: list[str]
    left_out: tuple[Rule, ...]


def library_choices(campaign: Campaign, mpi_wanted: str | None) -> LibraryChoices:
    """A rule wherever one of the library's algorithms was significantly faster than its default.

    mpi_wanted  the campaign's library, as `choose_mpi` reads it; None: one of its kind

    UserError where the library is of another kind or version, whose algorithms may have other numbers.
    """
    measured = campaign.header.mpi
    mpi = choose_mpi(mpi_wanted or measured.kind)
    if (mpi.kind, mpi.version) != (measured.kind, measured.version):
        raise UserError(
            f"{campaign.folder} measured {measured.title}, and this library is {mpi}",
            "name the campaign's library with --mpi",
        )
    catalogue = LIBRARIES[mpi.kind].catalogue(mpi)
    rules = select(campaign.of_variant().raced, machine_layouts(campaign), mpi.kind).rules
    named = [(rule, library_rule(mpi, catalogue, rule.collective, rule.algorithm)) for rule in rules]
    return LibraryChoices(
        tuple(rule_line(rule, text) for rule, text in named if text is not None),
        warnings(rule for rule, text in named if text is not None),
        tuple(rule for rule, text in named if text is None),
    )
