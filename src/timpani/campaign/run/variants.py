"""Variants as a launch needs them: prepared for this machine, and checked by a start; a slice does both."""

from collections.abc import Callable, Sequence
from typing import Protocol

from timpani.campaign.folder.header_parts import RecordedVariant
from timpani.campaign.plan.plan import CampaignPlan
from timpani.campaign.plan.prepared_variant import PreparedVariant
from timpani.campaign.run.start import Programs
from timpani.errors import UserError
from timpani.libraries.available import AvailableAlgorithms
from timpani.slices import Hook
from timpani.study.study import Study
from timpani.study.variant import Variant


class FurtherVariants(Protocol):
    """Variants that go by the name of a group or of a further library."""

    @property
    def texts(self) -> list[str]:
        """Each variant as `--variant` takes it."""

    def unusable(self, plan: CampaignPlan, note: Callable[[str], object]) -> list[str]:
        """The names of those that can't compete in `plan`; `note` is called with each reason. UserError if none can."""


class Variants(Protocol):
    """What prepares, checks and finds variants."""

    def prepare(
        self, study: Study, available: AvailableAlgorithms
    ) -> list[tuple[PreparedVariant, AvailableAlgorithms]]:
        """Each variant of `study`, the reference first, and the algorithms of its library."""

    def environment(self, name: str, variant: Variant) -> tuple[dict[str, str], frozenset[str]]:
        """What a variant adds to the environment, and the names of variables that it removes."""

    def check(self, plan: CampaignPlan, programs: Programs, components: bool = True) -> dict[str, RecordedVariant]:
        """What each variant's start showed."""

    def find_named(
        self, groups: Sequence[str], library: str | None, further: Sequence[str], note: Callable[[str], object]
    ) -> FurtherVariants:
        """The variants of groups of `library`, and of `further` libraries."""


_VARIANTS: Hook[Variants] = Hook("VARIANTS")


def variants() -> Variants:
    """What prepares and checks variants; UserError in an installation without."""
    for found in _VARIANTS.added():
        return found
    raise UserError("this installation compares no settings of libraries", "leave out the variants")


def prepared_variants(
    study: Study, available: AvailableAlgorithms
) -> list[tuple[PreparedVariant, AvailableAlgorithms]]:
    """How everything of `study` is started, the reference first, and the algorithms of its library."""
    if not study.variants and not study.clean_environment:
        return [(PreparedVariant.plain(available.mpi), available)]
    return variants().prepare(study, available)


def checked_variants(plan: CampaignPlan, programs: Programs) -> dict[str, RecordedVariant]:
    """The record of a start of each variant; nothing is started where there is one plain variant, or a simulation."""
    if plan.machine.simulated or (len(plan.variants) == 1 and plan.variants[0].variant.is_plain):
        return {}
    return variants().check(plan, programs)
