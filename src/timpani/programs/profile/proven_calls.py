"""The messages of a program's collectives, a call of each kind, as `timpani profile --prove` counts them."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from timpani.errors import UserError
from timpani.libraries.registry import LIBRARIES
from timpani.native.mpi import Mpi
from timpani.programs.profile.profile_lines import ProfilePart, SentLine

Matrix = tuple[tuple[int, ...], ...]
"""Row = sender, column = receiver."""


@dataclass(frozen=True)
class ProvenCall:
    """One call of a collective, size class and list of ranks.

    message_bytes    of that call; element_bytes of its datatype
    messages, bytes  ranks are counted from the root on, so that the root is rank 0
    """

    collective: str
    ranks: int
    size_class: int
    message_bytes: int
    element_bytes: int
    messages: Matrix
    bytes: Matrix

    @property
    def sent(self) -> int:
        """All messages."""
        return sum(map(sum, self.messages))


def proven_calls(part: ProfilePart) -> list[ProvenCall]:
    """The calls whose messages are known of all ranks."""
    strata: dict[str, list[SentLine]] = defaultdict(list)
    for line in part.sent:
        strata[line.stratum].append(line)
    found = [_proven_call(lines) for lines in strata.values() if len(lines) == lines[0].ranks]
    return sorted(filter(None, found), key=lambda call: (call.collective, call.ranks, call.message_bytes))


def _proven_call(lines: Sequence[SentLine]) -> ProvenCall | None:
    """The call of all its ranks' lines; None where they are not of one call, or a rank sent beyond its communicator."""
    first, ranks = lines[0], len(lines)
    if len({(line.bytes, line.root) for line in lines}) > 1:
        return None
    place = {line.rank: (line.comm_rank - first.root) % ranks for line in lines}
    messages = [[0] * ranks for _ in range(ranks)]
    sent_bytes = [[0] * ranks for _ in range(ranks)]
    for line in lines:
        for peer, count, size in line.sent:
            if peer not in place:
                return None
            messages[place[line.rank]][place[peer]] += count
            sent_bytes[place[line.rank]][place[peer]] += size
    return ProvenCall(
        first.name,
        ranks,
        first.size_class,
        first.bytes,
        first.element_bytes,
        tuple(map(tuple, messages)),
        tuple(map(tuple, sent_bytes)),
    )


def proving_variables(library: Mpi) -> dict[str, str]:
    """What makes the library and Timpani count the messages of a program; UserError where the library can't."""
    known = LIBRARIES[library.kind]
    counting = known.algorithms.counting(library) if known.algorithms.counting else None
    if counting is None:
        raise UserError(
            f"{library} can't count messages", "profile without --prove; Open MPI's monitoring component can count"
        )
    return {"TIMPANI_PROVE": "1"} | {known.launcher.variable(name): value for name, value in counting.parameters}
