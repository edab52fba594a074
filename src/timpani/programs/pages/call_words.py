"""A kind of call in words: its size, and the communicator."""

from timpani.programs.profile_lines import KindLine, ProfilePart
from timpani.study.sizes import show_size
from timpani.study.words import counted


def size_words(line: KindLine) -> str:
    """The smallest size of the class, `1 KiB..`; empty without one."""
    return "" if line.bytes_low is None else f"{show_size(line.bytes_low)}.."


def communicator_words(part: ProfilePart, line: KindLine) -> str:
    """How the communicator was made, as far as MPI records that, and which of the program's ranks it has."""
    world_ranks = part.program.world_ranks
    if line.made == "predefined":
        return "MPI_COMM_SELF" if line.ranks < world_ranks else "MPI_COMM_WORLD"
    if not line.nodes:
        return line.made
    several_nodes = len({rank.host for rank in part.ranks}) > 1
    if line.world:
        ranks = "all ranks"
    elif line.ranks == world_ranks:
        ranks = "all ranks reordered"
    elif several_nodes and line.nodes == 1:
        ranks = "one node"
    elif several_nodes and line.nodes == line.ranks:
        ranks = "one rank per node"
    elif line.stride:
        ranks = "consecutive ranks" if line.stride == 1 else f"ranks {line.stride} apart"
    else:
        ranks = "some ranks"
    return f"{line.made}, {ranks}" if line.made else ranks


def kind_words(part: ProfilePart, line: KindLine) -> str:
    """The call with its size, its ranks, and their communicator if it is another than MPI_COMM_WORLD."""
    ranks = counted(line.ranks, "rank") if line.ranks else ""
    communicator = communicator_words(part, line)
    named = f"{ranks} ({communicator})" if communicator not in ("", "MPI_COMM_WORLD") else ranks
    return ", ".join(filter(None, (f"{line.name} {size_words(line)}".strip(), named)))
