"""The canonical names of algorithms, where a library uses another.

This is a dictionary, not a list of what exists: a name that isn't in it stays as the library has it.
"""

from collections.abc import Iterable

from timpani.study.cell import DEFAULT

_CANONICAL = {
    DEFAULT: "gather_bcast",  # Open MPI's allgatherv has one of that name; with us it is what the library decides
    "basic_linear": "linear",
    "split_binary_tree": "split_binary",
    "binary_tree": "binary",
    "modified_bruck": "bruck",
    "brucks": "bruck",
    "scatter_recursive_doubling_allgather": "scatter_allgather",
    "scatter_ring_allgather": "scatter_allgather_ring",
    "reduce_scatter_gather": "rabenseifner",
    "reduce_scatter_allgather": "rabenseifner",
}


def canonical_names(names: Iterable[str]) -> dict[str, tuple[str, tuple[str, ...]]]:
    """For each library's name of one collective's algorithms: the canonical name and the aliases.

    Two algorithms never get one name: where the canonical one is taken, the library's stays.
    """
    found: dict[str, tuple[str, tuple[str, ...]]] = {}
    taken = set(names := list(names))
    for name in names:
        canonical = _CANONICAL.get(name, name)
        if canonical in taken and canonical != name:
            canonical = name
        taken.add(canonical)
        found[name] = (canonical, (name,) if name not in (canonical, DEFAULT) else ())
    return found
