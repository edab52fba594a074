"""The house's words for algorithms where a library uses another name.

This is a dictionary, not a list of what exists: a name that isn't in it stays as the library has it.
"""

from collections.abc import Iterable

from timpani.study.cell import DEFAULT

_WORDS = {
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


def spell(names: Iterable[str]) -> dict[str, tuple[str, tuple[str, ...]]]:
    """For each library's name of one collective's algorithms: our name and the aliases.

    Two algorithms never get one name: where the word is taken, the library's name stays.
    """
    spelled: dict[str, tuple[str, tuple[str, ...]]] = {}
    taken = set(names := list(names))
    for name in names:
        word = _WORDS.get(name, name)
        if word in taken and word != name:
            word = name
        taken.add(word)
        spelled[name] = (word, (name,) if name not in (word, DEFAULT) else ())
    return spelled
