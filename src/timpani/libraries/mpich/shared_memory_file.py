"""The JSON file that replaces the tree by which MPICH's POSIX device chooses algorithms in shared memory."""

from collections.abc import Iterator
from dataclasses import dataclass

from timpani.errors import UserError
from timpani.libraries.catalogue import Catalogue
from timpani.libraries.mpich.embedded_tree import EmbeddedTree, embedded_tree
from timpani.libraries.mpich.node_algorithms import MESSAGES, PREFIX, RELEASE_GATHER, is_of_node
from timpani.libraries.mpich.selection_tree import BEGINS, COMPOSITION, SHARED_MEMORY, Tree, below
from timpani.libraries.mpich.tree_faults import Kind
from timpani.libraries.mpich.tree_file import TreeFile, checked, reached_leaf
from timpani.libraries.mpich.written_node_tree import write_node_tree
from timpani.libraries.tuning_file import Fault, Written
from timpani.native.mpi import Mpi
from timpani.study.cell import Algorithm
from timpani.tuning.decide.selection_table import Call, SelectionTable


@dataclass(frozen=True)
class NodePartChoice:
    """What MPICH chooses by a tree of shared memory for the part of a call on one node.

    Calls are as `TreeChoice` takes them, and in programs that initialize MPI without threads.
    """

    tree: Tree
    provider: str

    def decide(self, call: Call) -> Algorithm | None:
        """The algorithm of the part on the node with most ranks; None if no ranks share a node, and for collectives
        that the device does not choose for."""
        if call.per_node < 2 or not below(self.tree, f"collective={call.collective}"):
            return None
        part = Call(call.collective, call.per_node, 1, call.per_node, call.message_bytes)
        value = RELEASE_GATHER if reached_leaf(self.tree, part) else MESSAGES
        return Algorithm(self.provider, f"{PREFIX}{value}")


class SharedMemoryFile(TreeFile):
    """Read at the start; asked only for the part of a collective on a node, where a composition asks it."""

    name = "mpich-shared-memory.json"
    title = "MPICH's tree of shared memory, for the part of a collective on a node"
    variable = "MPIR_CVAR_CH4_POSIX_COLL_SELECTION_TUNING_JSON_FILE"
    kind: Kind = "shared memory"

    def recognizes(self, text: str) -> bool:
        """It begins with a collective's branch, and names algorithms in shared memory."""
        return BEGINS.match(text) is not None and COMPOSITION not in text and SHARED_MEMORY in text

    def write(self, table: SelectionTable, catalogue: Catalogue, mpi: Mpi) -> Written:
        """The library's tree with the table's rules for parts on nodes; no rule is said where it never reads it."""
        return write_node_tree(table, embedded_tree(mpi), catalogue)

    def read(self, text: str, catalogue: Catalogue) -> NodePartChoice:
        """What `text` chooses; UserError where the library would end the program, or never reads such a file."""
        if not any(is_of_node(info.name) for info in catalogue):
            raise UserError(
                f"{catalogue.provider} {catalogue.version} was built without modules for shared memory: it never "
                "reads this file",
                "name another build of the library with --mpi",
            )
        return NodePartChoice(checked(text, self.kind), catalogue.provider)

    def default(self, catalogue: Catalogue, mpi: Mpi) -> NodePartChoice:
        """By the library's tree."""
        return NodePartChoice(embedded_tree(mpi).of_node, catalogue.provider)

    def lint(self, text: str, catalogue: Catalogue, mpi: Mpi) -> Iterator[Fault]:
        """All that is wrong with it for this library."""
        if not embedded_tree(mpi).shared:
            what = f"{mpi.name} {mpi.version} was built without modules for shared memory"
            yield Fault("error", None, what, "it never reads this file", "use another build of the library")
            return
        yield from super().lint(text, catalogue, mpi)

    def embedded(self, mpi: Mpi) -> EmbeddedTree:
        """The library, with the algorithms that a tree of shared memory may name."""
        return embedded_tree(mpi).of_shared_memory
