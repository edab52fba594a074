"""What the core asks of variants; those that go by the name of a group or of a further library."""

import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from timpani.campaign.folder.header_parts import RecordedVariant
from timpani.campaign.plan.plan import CampaignPlan
from timpani.campaign.plan.prepared_variant import PreparedVariant
from timpani.campaign.run.start import Programs
from timpani.campaign.run.variants import Variants
from timpani.errors import UserError, unknown
from timpani.libraries.find import choose_mpi
from timpani.libraries.library import OfferedVariants
from timpani.libraries.registry import LIBRARIES
from timpani.native.build import build
from timpani.native.mpi import Mpi
from timpani.providers.available import AvailableAlgorithms
from timpani.study.study import Study
from timpani.study.variant import Variant
from timpani.variants.check import check_variants, unusable_variants
from timpani.variants.prepare import prepare_variants, variant_environment


@dataclass(frozen=True)
class NamedVariants:
    """The variants of `--variants GROUP` and of each further `--mpi`."""

    groups: Sequence[OfferedVariants]
    libraries: Sequence[str]

    @classmethod
    def find(
        cls, groups: Sequence[str], library: str | None, further: Sequence[str], note: Callable[[str], object]
    ) -> "NamedVariants":
        """The groups that `library` offers, and a variant for each of the libraries `further`, as `--mpi` names them.

        note  called with what a group lacks here, and why
        """
        offered = [group_variants(choose_mpi(library), name) for name in groups]
        for name, group in zip(groups, offered, strict=True):
            if group.left_out:
                reasons = "; ".join(f"{each} ({why})" for each, why in group.left_out.items())
                note(f"left out of --variants {name}: {reasons}")
        return cls(offered, list(_libraries(further)))

    @property
    def texts(self) -> list[str]:
        """Each variant as `--variant` takes it."""
        return [*(text for group in self.groups for text in group.texts), *self.libraries]

    def unusable(self, plan: CampaignPlan, note: Callable[[str], object]) -> list[str]:
        """The variants of groups that can't compete in `plan`: each is started once. UserError if none can.

        note  called with why
        """
        names = {name for group in self.groups for name in group.variants}
        of_components = {name for group in self.groups if group.of_components for name in group.variants}
        found = dict(unusable_variants(plan, build, names, of_components)) if names else {}
        for why in found.values():
            note(f"left out of --variants: {why}")
        if names and found.keys() == names:
            reason = "the lines above name the reasons; leave it out"
            raise UserError("no variant of --variants can compete here", reason)
        return list(found)


def _libraries(wanted: Iterable[str]) -> Iterator[str]:
    """A variant's text for each library, which `wanted` names as `--mpi` does; UserError for one that is missing."""
    count: Counter[str] = Counter()
    for each in wanted:
        mpi = choose_mpi(each)
        name = f"{mpi.kind}-{mpi.version}"
        count[name] += 1
        ending = f"+{count[name]}" if count[name] > 1 else ""
        yield f"{name}{ending}: --mpi {shlex.quote(str(mpi.mpirun))}"


def group_variants(mpi: Mpi, group: str) -> OfferedVariants:
    """The variants of a group that `mpi` offers; UserError where the library offers none."""
    offered = LIBRARIES[mpi.kind].algorithms.offered_variants(mpi)
    if not offered:
        raise UserError(f"{mpi.name} {mpi.version} offers no groups of variants", "name settings with --variant")
    if group not in offered:
        raise unknown("group of variants", group, offered, "timpani run --help")
    found = offered[group]
    if not found.variants:
        raise UserError(f"{mpi.name} {mpi.version} offers no {group}", "name settings with --variant")
    return found


class _ComparedVariants(Variants):
    def prepare(
        self, study: Study, available: AvailableAlgorithms
    ) -> list[tuple[PreparedVariant, AvailableAlgorithms]]:
        return prepare_variants(study, available)

    def environment(self, name: str, variant: Variant) -> tuple[dict[str, str], frozenset[str]]:
        return variant_environment(name, variant)

    def check(self, plan: CampaignPlan, programs: Programs, components: bool = True) -> dict[str, RecordedVariant]:
        return check_variants(plan, programs, components)

    def find_named(
        self, groups: Sequence[str], library: str | None, further: Sequence[str], note: Callable[[str], object]
    ) -> NamedVariants:
        """Those of groups of `library`, and one for each of `further` libraries."""
        return NamedVariants.find(groups, library, further, note)


VARIANTS = _ComparedVariants()
"""The answer to the core's hook of this name."""
