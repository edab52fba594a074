"""A library's algorithms as schedules of ours: those that its messages, counted, were named by."""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence

from timpani.campaign.load import Campaign
from timpani.libraries.catalogue import Catalogue
from timpani.prediction.calibration import Calibration
from timpani.prediction.known_schedules import Known, schedules_of_library
from timpani.prediction.request import Named, Schedule, sizes_of
from timpani.schedules.simulation import Simulator
from timpani.study.cell import Algorithm, is_under_files
from timpani.study.schema import cell_of
from timpani.study.sizes import show_sizes


def library_algorithms(
    campaigns: Sequence[Campaign],
    collectives: Sequence[str],
    sizes: Sequence[int],
    own: Catalogue,
    simulator: Simulator,
    calibration: Calibration,
) -> tuple[list[Named], list[str]]:
    """The algorithms of the campaigns' libraries whose schedule is known, and a sentence for what isn't.

    A schedule is known at sizes at which messages were counted, and between two of them where it is the same. The
    default has none: which algorithm it takes may change with the rank count.
    """
    found: list[Named] = []
    left_out: dict[str, None] = {}
    for campaign in campaigns:
        known = schedules_of_library(campaign, own, simulator, calibration)
        for (collective, algorithm), counted in _counted(campaign).items():
            if collective not in collectives:
                continue
            if algorithm.is_default:
                left_out[f"{collective} {algorithm}: which algorithm it takes may change with the rank count"] = None
                continue
            by_size = {size: known.get((collective, size), {}).get(algorithm) for size in counted}
            named, unknown = _named(collective, algorithm, by_size, sizes_of(collective, sizes), own)
            found += named
            left_out |= dict.fromkeys(unknown)
    if not any(campaign.proofs for campaign in campaigns):
        left_out["the library's algorithms: none of their messages were counted; `timpani run … --prove` does"] = None
    return found, [*left_out]


def _counted(campaign: Campaign) -> dict[tuple[str, Algorithm], list[int]]:
    """The library's algorithms whose messages were counted, and at which sizes."""
    found: dict[tuple[str, Algorithm], set[int]] = {}
    for cell in map(cell_of, campaign.proofs):
        if cell.algorithm.provider == campaign.header.mpi.kind and not is_under_files(cell.algorithm.name):
            found.setdefault((cell.collective, cell.algorithm), set()).add(cell.message_bytes)
    return {of: sorted(sizes) for of, sizes in found.items()}


def _named(
    collective: str, algorithm: Algorithm, counted: Mapping[int, Known | None], sizes: Sequence[int], own: Catalogue
) -> tuple[list[Named], list[str]]:
    """An entry for each choice of schedules that one algorithm may follow at some of the sizes."""
    offs: dict[tuple[Algorithm, ...], list[tuple[int, float]]] = {}
    unknown: dict[str, list[int]] = {}
    for size in sizes:
        beside = _beside(counted, size)
        known = [each for each in beside if each]
        if not beside:
            unknown.setdefault(f"its messages were counted at {show_sizes(sorted(counted))} alone", []).append(size)
        elif len(known) < len(beside):
            unknown.setdefault("its messages were those of no schedule of ours", []).append(size)
        elif len({each.schedules for each in known}) > 1:
            unknown.setdefault("its messages were those of one schedule below and of another above", []).append(size)
        else:
            offs.setdefault(known[0].schedules, []).append((size, max(each.off for each in known)))
    found: list[Named] = []
    for schedules, off in offs.items():
        infos = [own.info(collective, each) for each in schedules]
        found.append(
            Named(
                collective,
                tuple(Schedule(each, info) for each, info in zip(schedules, infos, strict=True) if info),
                algorithm,
                tuple(off),
            )
        )
    return found, [f"{collective} {algorithm} at {show_sizes(sizes)}: {why}" for why, sizes in unknown.items()]


def _beside(counted: Mapping[int, Known | None], size: int) -> list[Known | None]:
    """What was counted at this size, or at the nearest smaller and the nearest larger one; nothing without both."""
    if size in counted:
        return [counted[size]]
    known = sorted(counted)
    below, above = bisect_left(known, size), bisect_right(known, size)
    return [counted[known[below - 1]], counted[known[above]]] if below > 0 and above < len(known) else []
