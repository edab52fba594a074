"""How the ranks of a communicator are distributed over nodes, as far as a format of rules can ask for it."""

from dataclasses import dataclass, replace

from timpani.study.selection import ALL, Rule, Span, common_part


@dataclass(frozen=True)
class Distribution:
    """A class of communicators.

    word      what a file in JSON calls it
    nodes     on how many nodes its ranks are
    per_node  the largest number of its ranks on one node
    words     the same for people, after a number of ranks
    """

    word: str
    nodes: Span
    per_node: Span
    words: str = ""

    def part_of(self, rule: Rule) -> Rule | None:
        """`rule` for communicators of this class only; None if it decides none of them.

        On one node, the ranks of a node are all ranks; with one rank on each node, the nodes are as many as the ranks.
        In both classes a rule can therefore ask for ranks in place of ranks per node or of nodes.
        """
        nodes, per_node = common_part(rule.nodes, self.nodes), common_part(rule.per_node, self.per_node)
        ranks: Span | None = rule.ranks
        if self == SINGLE_NODE:
            ranks = common_part(rule.ranks, rule.per_node)
        elif self == ONE_PER_NODE:
            ranks = common_part(rule.ranks, rule.nodes)
        if nodes is None or per_node is None or ranks is None:
            return None
        return replace(rule, ranks=ranks, nodes=self.nodes, per_node=self.per_node)

    def widens(self, rule: Rule) -> bool:
        """Whether `rule` decides only some communicators of this class with its rank counts."""
        if self in (SINGLE_NODE, ONE_PER_NODE):
            return False
        return (common_part(rule.nodes, self.nodes), common_part(rule.per_node, self.per_node)) != (
            self.nodes,
            self.per_node,
        )


ANYWHERE = Distribution("any", ALL, ALL)
SINGLE_NODE = Distribution("single-node", Span(1, 1), ALL, " on one node")
ONE_PER_NODE = Distribution("one-per-node", Span(2), Span(1, 1), " with one rank on each node")
SEVERAL = Distribution("any", Span(2), Span(2), " on several nodes with several ranks on a node")
"""What is left of `any` after the other two, if their entries come first: the first entry that fits holds."""

DISTINGUISHED = (SINGLE_NODE, ONE_PER_NODE, SEVERAL)
"""The classes that a file in JSON distinguishes, in the order in which it must name them."""
