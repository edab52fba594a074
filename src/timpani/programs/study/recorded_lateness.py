"""The lateness of ranks in a profile, as the arrival pattern `recorded:p` injects it."""

import zlib
from collections.abc import Iterable
from pathlib import Path

from timpani.errors import UserError
from timpani.programs.profile.lateness import lateness_by_kind
from timpani.programs.profile.profile_folder import read_profile
from timpani.programs.profile.profile_lines import LatenessLine, ProfilePart
from timpani.study.arrival import RecordedLateness, recorded_pattern, recorded_source
from timpani.study.study import Study


def recorded_lateness(part: ProfilePart) -> list[RecordedLateness]:
    """Each rank's mean lateness, by collective, rank count and size class.

    Of several communicators with as many ranks, the one with most calls stands for all. Calls whose lateness is unknown
    on a rank are left out. Ranks are in the order of MPI_COMM_WORLD; the first to enter has lateness 0.
    """
    return [
        RecordedLateness(collective=name, ranks=ranks, size_class=size_class, ns=_nanoseconds(each.lines))
        for (name, ranks, size_class), each in sorted(lateness_by_kind(part).items())
        if size_class >= 0
    ]


def _nanoseconds(lines: Iterable[LatenessLine]) -> tuple[int, ...]:
    means = [line.mean_ns for line in lines]
    return tuple(round(mean - min(means)) for mean in means)


def with_recorded_lateness(study: Study) -> Study:
    """The study with the lateness that its pattern `recorded:p` names; unchanged with any other pattern.

    The pattern is named after the profile's folder and a checksum of the lateness, so that cells of different lateness
    never merge. UserError if the profile can't be read or holds no lateness.
    """
    source = recorded_source(study.arrival)
    if not source or study.lateness:
        return study
    found = recorded_lateness(read_profile(Path(source)).main_part)
    if not found:
        raise UserError(f"{source} holds no lateness", "profile the program with all of its ranks: timpani profile")
    checksum = zlib.crc32(repr([each.model_dump() for each in found]).encode())
    name = f"{Path(source).resolve().name}-{checksum:08x}"
    return study.model_copy(update={"arrival": recorded_pattern(name), "lateness": tuple(found)})
