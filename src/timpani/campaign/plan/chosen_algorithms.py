"""Which algorithms of a study a variant measures, and what makes its library run them."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

from timpani.campaign.plan.prepared_variant import PreparedVariant, SettingConflictError
from timpani.errors import UserError, unknown
from timpani.libraries.available import AvailableAlgorithms
from timpani.libraries.catalogue import AlgorithmInfo, Catalogue
from timpani.libraries.library import AlgorithmSelection
from timpani.libraries.registry import LIBRARIES, tuned_selection
from timpani.libraries.rules import BY_RULES, rules_selection
from timpani.study.cell import DEFAULT, OWN, TUNED, Algorithm, Skipped, each_of, under_files
from timpani.study.operations import OPERATIONS
from timpani.study.study import ALL, Study


@dataclass(frozen=True)
class ChosenAlgorithm:
    """An algorithm to measure, what the catalogue has of it, and what makes the library run it."""

    collective: str
    algorithm: Algorithm
    info: AlgorithmInfo | None
    selection: AlgorithmSelection


@dataclass
class ChosenAlgorithms:
    """The algorithms that a variant measures.

    skipped   what the study names and can't be measured
    settings  by collective and label what a user types to have an algorithm
    """

    chosen: list[ChosenAlgorithm] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    settings: dict[str, dict[str, str]] = field(default_factory=dict)


def choose_algorithms(
    study: Study,
    variant: PreparedVariant,
    available: AvailableAlgorithms,
    switches: Mapping[str, str],
    several_nodes: bool,
) -> ChosenAlgorithms:
    """What `variant` measures of `study`.

    available  the algorithms of its library
    switches   each node's switch, where it is known
    """
    found = ChosenAlgorithms()
    for collective, texts in study.collectives.items():
        is_collective = OPERATIONS[collective].kind == "collective"
        own = variant.variant.algorithms if is_collective else ()
        _add_named(found, variant, available, collective, own or texts)
        if is_collective:
            _add_files(found, study, variant, collective, switches)
    shared = None
    if not variant.chooses_algorithms:
        shared = variant.library.settings.shared_start(variant.mpi, several_nodes)
    started = [_started(each, variant) for each in share_launches(found.chosen, shared)]
    found.skipped += [each for each in started if isinstance(each, Skipped)]
    found.chosen = [each for each in started if isinstance(each, ChosenAlgorithm)]
    return found


def _add_named(
    found: ChosenAlgorithms,
    variant: PreparedVariant,
    available: AvailableAlgorithms,
    collective: str,
    texts: tuple[str, ...],
) -> None:
    catalogues = available.catalogues_of(collective)
    named = list(_algorithms(collective, texts, catalogues, refuse=variant.name == DEFAULT))
    found.skipped += [each for each in named if isinstance(each, Skipped)]
    for algorithm in dict.fromkeys(each for each in named if isinstance(each, Algorithm)):
        info = catalogues[algorithm.provider].info(collective, algorithm)
        forced = OPERATIONS[collective].kind == "collective" and algorithm.provider == available.mpi.kind
        selection = (
            available.library.settings.selection(available.mpi, info, algorithm) if forced else AlgorithmSelection()
        )
        found.chosen.append(ChosenAlgorithm(collective, algorithm, info, selection))
        outside = available.setting(collective, algorithm)
        if outside is not None and (setting := variant.setting(*outside, os.environ)):
            label = replace(algorithm, variant=variant.name).label
            found.settings.setdefault(collective, {})[label] = setting


def _add_files(
    found: ChosenAlgorithms, study: Study, variant: PreparedVariant, collective: str, switches: Mapping[str, str]
) -> None:
    """What stands for rules and tuning files."""
    mpi = variant.mpi
    if study.rules:
        selection = rules_selection(mpi, Path(study.rules), switches)
        found.chosen.append(ChosenAlgorithm(collective, BY_RULES, None, selection))
    if study.tuned:
        selection = tuned_selection(Path(study.tuned), mpi)
        other_catalogues = [
            replace(
                each,
                algorithm=under_files(each.algorithm),
                selection=replace(each.selection, parameters=selection.parameters),
            )
            for each in found.chosen
            if each.collective == collective and each.selection.at_call and not each.selection.parameters
        ]
        found.chosen += [ChosenAlgorithm(collective, Algorithm(mpi.kind, TUNED), None, selection), *other_catalogues]


def share_launches(chosen: Sequence[ChosenAlgorithm], shared: AlgorithmSelection | None) -> Sequence[ChosenAlgorithm]:
    """`chosen`, with the default and Timpani's algorithms, which need no setting, in the launches that switch.

    What is compared shares the state of the machine only inside a start. `shared` is the provider's `shared_start`:
    None where the default differs there; it then has separate launches, which Timpani's algorithms share.
    """
    switched = any(each.selection.at_creation or each.selection.at_call for each in chosen)
    if shared is None or not switched:
        return chosen
    return [replace(each, selection=shared) if _needs_nothing(each) else each for each in chosen]


def _needs_nothing(each: ChosenAlgorithm) -> bool:
    return each.selection == AlgorithmSelection() and OPERATIONS[each.collective].kind == "collective"


def _started(each: ChosenAlgorithm, variant: PreparedVariant) -> ChosenAlgorithm | Skipped:
    """The algorithm as the variant starts it."""
    algorithm = replace(each.algorithm, variant=variant.name)
    try:
        start = variant.with_selection(each.selection.parameters, each.selection.environment)
    except SettingConflictError as conflict:
        return Skipped(f"{each.collective} {algorithm.label}", str(conflict))
    selection = replace(each.selection, parameters=start.parameters, environment=start.environment)
    return replace(each, algorithm=algorithm, selection=selection)


def _algorithms(
    collective: str, texts: tuple[str, ...], catalogues: Mapping[str, Catalogue], refuse: bool
) -> Iterator[Algorithm | Skipped]:
    """The algorithms that `texts` name, some twice; those of another library than the first are left out.

    Unknown names raise UserError where `refuse`; else, as another library may not have them, they are left out.
    """
    for written in chain.from_iterable(map(each_of, texts)):
        try:
            yield from _algorithms_named(collective, written, catalogues)
        except UserError as error:
            if refuse:
                raise
            yield Skipped(f"{collective} {written}", error.what)


def _algorithms_named(
    collective: str, written: str, catalogues: Mapping[str, Catalogue]
) -> Iterator[Algorithm | Skipped]:
    catalogue, *others = catalogues.values()
    other_catalogues = {each.provider: each for each in others}
    is_transpose = OPERATIONS[collective].kind == "transpose" and "/" not in written
    text = f"{OWN}/{written}" if is_transpose else written
    if text == ALL:
        yield from catalogue.all_of(collective)
        return
    typed = Algorithm.parse(text)
    algorithm = catalogue.stand_in(collective, typed)
    if algorithm != typed:
        yield Skipped(f"{collective} {typed}", f"replaced by {algorithm}", str(algorithm))
    providers = (*LIBRARIES, *other_catalogues)
    if algorithm.provider and algorithm.provider not in providers:
        raise unknown(f"provider of {collective} {text}:", algorithm.provider, providers, "timpani list algorithms")
    if algorithm.provider in other_catalogues and algorithm.name == ALL:
        yield from other_catalogues[algorithm.provider].all_of(collective)[1:]
    elif algorithm.provider in other_catalogues:
        yield other_catalogues[algorithm.provider].resolve(collective, algorithm)
    elif algorithm.provider not in ("", catalogue.provider):
        yield Skipped(f"{collective} {text}", f"not an algorithm of {catalogue.title}")
    else:
        yield catalogue.resolve(collective, algorithm)
