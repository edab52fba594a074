"""What the core asks of variants: each with its library and environment; those of a group or a further library."""

import os
import shlex
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from timpani.campaign.folder.header_parts import RecordedVariant
from timpani.campaign.plan.plan import CampaignPlan
from timpani.campaign.plan.prepared_variant import PreparedVariant, check_variant
from timpani.campaign.run.session import Variants
from timpani.campaign.run.start import Programs
from timpani.errors import UserError, unknown
from timpani.libraries.available import AvailableAlgorithms
from timpani.libraries.find import choose_mpi, mpi_of_launcher
from timpani.libraries.library import OfferedVariants
from timpani.libraries.outside_settings import clean_environment
from timpani.libraries.registry import LIBRARIES
from timpani.machine.detect import load_modules, shell_environment
from timpani.native.build import build
from timpani.native.mpi import Mpi
from timpani.study.study import Study
from timpani.study.variant import Variant
from timpani.variants.check import check_variants, unusable_variants

_PRELOAD = "LD_PRELOAD"

_OF_THE_SHELL = frozenset({"_", "SHLVL", "PWD", "OLDPWD", "PS1", "PS2"})  # which it sets, or removes without a terminal
_SPLITS_OR_EXPANDS = " :$"  # the loader does so with these in LD_PRELOAD (ld.so(8))
_LAUNCHERS = ("mpirun", "mpiexec")


def prepare_variants(study: Study, available: AvailableAlgorithms) -> list[tuple[PreparedVariant, AvailableAlgorithms]]:
    """Each variant of `study`, the reference first, and the algorithms of its library.

    available  those of the campaign's library

    UserError where a variant names a library, script, module or file that isn't there.
    """
    asked = {available.mpi: available}
    found = []
    for name, variant in study.all_variants.items():
        environment, unset = variant_environment(name, variant)
        mpi = _library(name, variant, available.mpi, environment.get("PATH"))
        check_variant(name, variant, mpi)
        if mpi not in asked:
            asked[mpi] = AvailableAlgorithms.ask(mpi)
        clean = None
        if study.clean_environment:
            clean = dict(clean_environment(mpi, os.environ).items() - os.environ.items())
        prepared = PreparedVariant(name, variant, mpi, {**(clean or {}), **environment}, unset, clean)
        found.append((prepared, asked[mpi]))
    return found


def _library(name: str, variant: Variant, own: Mpi, path: str | None) -> Mpi:
    """The library that a variant names, or whose launcher is first on its `path`; else the campaign's."""
    if variant.mpi:
        return choose_mpi(variant.mpi)
    if path is None:
        return own
    here, there = (next(filter(None, _launchers(each)), None) for each in (os.environ.get("PATH"), path))
    if there is None or there == here:
        return own
    if mpi := mpi_of_launcher(there):
        return mpi
    raise UserError(f"variant {name!r} puts {there} first on PATH, which can't be used as a launcher", "name --mpi")


def _launchers(path: str | None) -> Iterator[str | None]:
    return (shutil.which(each, path=path) for each in _LAUNCHERS)


def variant_environment(name: str, variant: Variant) -> tuple[dict[str, str], frozenset[str]]:
    """What a variant adds to the environment, and the names of variables that its script and modules remove.

    UserError where its script, a module or a preloaded library is missing.
    """
    found = dict(os.environ)
    if variant.modules:
        found = load_modules(variant.modules)
    if variant.source:
        found = _sourced(name, variant.source, found)
    changed = {key: value for key, value in found.items() if key not in _OF_THE_SHELL and os.environ.get(key) != value}
    if variant.preload:  # before what the user, the script or a module loads
        preloaded = (_preloaded(name, variant.preload), found.get("LD_PRELOAD"))
        changed["LD_PRELOAD"] = ":".join(filter(None, preloaded))
    environment = {**changed, **dict(variant.environment)}
    return environment, frozenset(os.environ.keys() - found.keys() - environment.keys() - _OF_THE_SHELL)


def _sourced(name: str, script: str, environment: Mapping[str, str]) -> dict[str, str]:
    """The environment after a shell has read `script`, whose name is an argument and no part of the shell's text."""
    path = Path(script).expanduser().absolute()
    if not path.is_file():
        raise UserError(f"variant {name!r} sources {script}, which is no file", "name a shell script")
    try:
        shell = shutil.which("bash") or "/bin/sh"
        found, said = shell_environment(shell, '. "$1" >&2', [str(path)], environment)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UserError(
            f"variant {name!r}: {script} can't be sourced ({error})", "set its variables yourself"
        ) from None
    if found is None:
        raise UserError(f"variant {name!r}: sourcing {script} failed: {said[-200:]}", "correct the script")
    return found


def _preloaded(name: str, library: str) -> str:
    path = Path(library).expanduser().absolute()
    if not path.is_file():
        raise UserError(f"variant {name!r} preloads {library}, which is no file", "name a shared library")
    if set(str(path)) & set(_SPLITS_OR_EXPANDS):
        raise UserError(
            f"{path} can't be loaded before a program: the loader splits such a path, or expands it",
            "move it to a folder without spaces, ':' and '$' in its path",
        )
    return str(path)


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
