"""All settings outside Timpani that a launch of one library would find here, and how they are reported."""

import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from timpani.libraries.environment_overrides import clean_environment, environment_overrides
from timpani.libraries.outside_setting import ENVIRONMENT, OutsideSetting
from timpani.libraries.registry import LIBRARIES
from timpani.native.mpi import Mpi

MODULES = "LOADEDMODULES"
"""The variable in which environment modules keep the names of those that are loaded."""


def outside_settings(mpi: Mpi, environment: Mapping[str, str], clean: bool = False) -> tuple[OutsideSetting, ...]:
    """The settings of `mpi` in `environment` and in the files that it reads, and the loaded modules.

    clean  whether launches get the clean environment: what is not in force there is removed
    """
    removed = environment_overrides(mpi, environment)
    kept = {name: value for name, value in environment.items() if name not in removed}
    modules = environment.get(MODULES, "")
    return (
        *(OutsideSetting(name, environment[name], ENVIRONMENT, chooses=True, removed=True) for name in removed),
        *(_clean_settings if clean else LIBRARIES[mpi.kind].settings_in_force)(mpi, kept),
        *((OutsideSetting(MODULES, modules, ENVIRONMENT, chooses=False),) if modules else ()),
    )


def _clean_settings(mpi: Mpi, environment: Mapping[str, str]) -> Iterator[OutsideSetting]:
    """The settings in force in the clean environment, then those that it removes."""
    before = list(LIBRARIES[mpi.kind].settings_in_force(mpi, environment))
    cleaned = clean_environment(mpi, environment)
    after = list(LIBRARIES[mpi.kind].settings_in_force(mpi, cleaned))
    added = dict(cleaned.items() - environment.items())
    yield from (each for each in after if each.source != ENVIRONMENT or each.name not in added)
    yield from (replace(each, removed=True) for each in before if each not in after)


def baseline_warnings(settings: Iterable[OutsideSetting]) -> Iterator[str]:
    """A sentence for each setting because of which `default` is not the library's default."""
    yield from (f"default is not the library's default: {each}" for each in settings if each.decides_default)


def described(settings: Iterable[OutsideSetting]) -> Iterator[str]:
    """All settings in words: first those that decide the default, then the removed ones, then the others by source."""
    settings = tuple(settings)
    yield from baseline_warnings(settings)
    if removed := [each for each in settings if each.removed and each.chooses and each.source == ENVIRONMENT]:
        names = ", ".join(each.name for each in removed)
        text = shlex.join(f"{each.name}={each.value}" for each in removed)
        variant = shlex.quote(f"mine: {text}")
        yield (
            f"Timpani removes {names} from the environment of its launches: they choose algorithms; "
            f"`timpani run … --variant {variant}` measures with them too"
        )
    others = [each for each in settings if each.removed and each not in removed]
    yield from (f"launches go without a setting, by --clean-environment: {each}" for each in others)
    by_file: dict[str, list[str]] = {}
    for each in settings:
        if each.chooses or each.removed:
            continue
        if each.name == MODULES:
            yield f"loaded modules: {each.value.replace(':', ', ')}"
        else:
            file = each.source.partition(" line ")[0]
            by_file.setdefault(file, []).append(f"{each.name}={each.value}")
    yield from (f"{file} sets {', '.join(named)}, which choose no algorithm" for file, named in by_file.items())
