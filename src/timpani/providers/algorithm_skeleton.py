"""The source of a new algorithm to begin from: it is right, slow, and says in comments what to change."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from timpani.errors import UserError, unknown
from timpani.study.operations import COLLECTIVES

_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")


@dataclass(frozen=True)
class _Start:
    """What differs between the skeletons of two collectives.

    about   what moves, for the comment at the top and for the documentation's `cost`
    round   the body of the C++ function `round`
    rounds  the algorithm's rounds, a C++ expression in `args`
    claims  closed forms in C++: rounds in which anything moves, most elements sent by a rank, most neighbors
    scratch, commutative  what else the algorithm asks for
    """

    about: str
    cost: str
    round: str
    rounds: str
    claims: tuple[str, str, str]
    scratch: bool = False
    commutative: bool = False


_TO_EACH = ("other_ranks", "message_to_each", "other_ranks")
_OWN_BLOCK = "    if (k == 0) {\n        // A copy is a step too. Round 0 copies the block that stays at its rank.\n"

_STARTS: Mapping[str, _Start] = {
    "bcast": _Start(
        "the root sends the whole message to one rank after the other",
        "(p−1) (α + βm)",
        """\
    // Ranks counted from the root: the root is 0, and round k is about rank k + 1.
    const int receiver = absolute_rank(args, static_cast<int>(k) + 1);
    // Elements 0 to args.count of the send buffer at the root, of the receive buffer at the others.
    const Region whole{data_of(args, rank), 0, args.count};
    if (rank == args.root) steps.send(receiver, whole);
    if (rank == receiver) steps.receive(args.root, whole);
""",
        "args.ranks - 1",
        _TO_EACH,
    ),
    "scatter": _Start(
        "the root sends one rank after the other its block",
        "(p−1) (α + βm)",
        """\
    // Ranks are counted from the root. In round 0 the root copies its own block, in round k it sends to rank k.
    const int receiver = absolute_rank(args, static_cast<int>(k));
    const Region outgoing = region(Buffer::send, block_of(args, receiver));
    const Region incoming{Buffer::receive, 0, outgoing.count};
    if (k == 0 && rank == args.root) steps.copy(outgoing, incoming);
    if (k > 0 && rank == args.root) steps.send(receiver, outgoing);
    if (k > 0 && rank == receiver) steps.receive(args.root, incoming);
""",
        "args.ranks",
        _TO_EACH,
    ),
    "gather": _Start(
        "the root receives the block of one rank after the other",
        "(p−1) (α + βm)",
        """\
    // Ranks counted from the root: in round k rank k sends its block to the root; in round 0 the root copies its own.
    const int sender = absolute_rank(args, static_cast<int>(k));
    const Region incoming = region(Buffer::receive, block_of(args, sender));
    const Region outgoing{Buffer::send, 0, incoming.count};
    if (k == 0 && rank == args.root) steps.copy(outgoing, incoming);
    if (k > 0 && rank == sender) steps.send(args.root, outgoing);
    if (k > 0 && rank == args.root) steps.receive(sender, incoming);
""",
        "args.ranks",
        ("other_ranks", "message_once", "other_ranks"),
    ),
    "allgather": _Start(
        "each rank sends its block to one rank after the other",
        "(p−1) (α + βm)",
        _OWN_BLOCK
        + """\
        steps.copy({Buffer::send, 0, block_of(args, rank).count}, region(Buffer::receive, block_of(args, rank)));
        return;
    }
    // In round k every rank sends k ranks further and receives from the rank k before it.
    const int to = static_cast<int>((rank + k) % args.ranks);
    const int from = static_cast<int>((rank - k + args.ranks) % args.ranks);
    steps.receive(from, region(Buffer::receive, block_of(args, from)));
    steps.send(to, {Buffer::send, 0, block_of(args, rank).count});
""",
        "args.ranks",
        _TO_EACH,
    ),
    "alltoall": _Start(
        "each rank exchanges blocks with one rank after the other",
        "(p−1) (α + βm)",
        """\
    // In round k every rank sends k ranks further and receives from the rank k before it; in round 0 it copies.
    const int to = static_cast<int>((rank + k) % args.ranks);
    const int from = static_cast<int>((rank - k + args.ranks) % args.ranks);
    const auto outgoing = pair_block_of(args, rank, to);
    const auto incoming = pair_block_of(args, from, rank);
    const Region source{Buffer::send, outgoing.at_sender, outgoing.count};
    const Region target{Buffer::receive, incoming.at_receiver, incoming.count};
    if (k == 0) steps.copy(source, target);
    if (k > 0) steps.receive(from, target);
    if (k > 0) steps.send(to, source);
""",
        "args.ranks",
        _TO_EACH,
    ),
    "reduce": _Start(
        "a chain of all ranks that ends at the root: each adds its elements to those that it receives",
        "(p−1) (α + βm + γm)",
        """\
    const Region own{Buffer::send, 0, args.count};
    const Region result{Buffer::receive, 0, args.count};
    const Region partial{Buffer::scratch, 0, args.count};  // the send buffer is only read
    if (args.ranks == 1) {
        steps.copy(own, result);
        return;
    }
    // Ranks counted from the root. In round k rank k + 1 sends to rank k + 2; the last one sends to the root, rank 0.
    const int me = relative_rank(args, rank);
    const int sender = static_cast<int>(k) + 1;
    const int receiver = (sender + 1) % args.ranks;
    if (me == sender) steps.send(absolute_rank(args, receiver), me == 1 ? own : partial);
    if (me != receiver) return;
    const Region sum = me == 0 ? result : partial;
    steps.receive(absolute_rank(args, sender), sum);
    steps.reduce(own, sum);  // sum becomes own ∘ sum: not in the order of the ranks, so the operator must commute
""",
        "args.ranks == 1 ? 1 : args.ranks - 1",
        ("other_ranks", "message_once", "ring_neighbors"),
        scratch=True,
        commutative=True,
    ),
    "allreduce": _Start(
        "a chain of all ranks up to the last, each adding its elements, and back with the result",
        "2 (p−1) (α + βm) + (p−1) γm",
        """\
    const Region sum{Buffer::receive, 0, args.count};
    const Region received{Buffer::scratch, 0, args.count};
    const int last = args.ranks - 1;
    if (k == 0) {
        steps.copy({Buffer::send, 0, args.count}, sum);
    } else if (k <= last) {  // up: rank k − 1 sends what ranks 0 to k − 1 have contributed
        if (rank == k - 1) steps.send(rank + 1, sum);
        if (rank == k) {
            steps.receive(rank - 1, received);
            steps.reduce(received, sum);  // sum becomes received ∘ sum, in the order of the ranks
        }
    } else {  // down, from the last rank
        const std::int64_t sender = 2 * last + 1 - k;
        if (rank == sender) steps.send(rank - 1, sum);
        if (rank == sender - 1) steps.receive(rank + 1, sum);
    }
""",
        "2 * args.ranks - 1",
        (
            "[](const CollectiveArguments& args) -> std::int64_t { return 2 * (args.ranks - 1); }",
            "[](const CollectiveArguments& args) { return std::min(2, args.ranks - 1) * args.count; }",
            "ring_neighbors",
        ),
        scratch=True,
    ),
    "barrier": _Start(
        "all ranks notify rank 0 that they have arrived, then rank 0 notifies all",
        "2 (p−1) α",
        """\
    // A notification is a message without data.
    for (int other = 1; other < args.ranks; ++other) {
        if (rank == 0 && k == 0) steps.await(other);
        if (rank == 0 && k == 1) steps.notify(other);
        if (rank == other && k == 0) steps.notify(0);
        if (rank == other && k == 1) steps.await(0);
    }
""",
        "2",
        (
            "[](const CollectiveArguments& args) -> std::int64_t { return args.ranks == 1 ? 0 : 2; }",
            "always<0>",
            "other_ranks",
        ),
    ),
}
"""The collectives that have a skeleton."""

_ONE_LINE = 102  # characters of claims that clang-format leaves on a line

_COMMUTATIVE = "    .restrictions = {.commutative = true},\n"
_SCRATCH = "\n    .scratch = [](const CollectiveArguments& args, int /*rank*/) { return args.count; },  // elements"

_FILE = """\
// {title} {name}: {about}.
//
// This file is the whole algorithm: Timpani finds it, verifies it, measures it and draws it. Change `round` to what
// your algorithm does, then `rounds` and the claims, and verify after each change:
//
//     timpani verify {collective}/{name}

#include <algorithm>

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/blocks.hpp"
#include "schedule/patterns/closed_forms.hpp"

namespace timpani::{collective}_{name} {{  // named like the file, since many files are compiled as one
namespace {{

/// Rounds that `round` is asked for, from 0 on.
std::int64_t rounds([[maybe_unused]] const CollectiveArguments& args) {{ return {rounds}; }}

/// What `rank` does in round k. It depends on nothing else, so that any rank and round can be asked for alone.
///
/// Give no tags and no order: the k-th message to a peer meets the k-th that the peer receives, and a step waits only
/// for earlier steps of its rank that touch the same memory.
void round(const CollectiveArguments& args, int rank, std::int64_t k, Steps& steps) {{
{round}}}

const Register entry{{{{
    .collective = "{collective}",
    .name = "{name}",
    .source = "who described it, where and when",
    .cost = "{cost}",  // α: a message, β: a byte, γ: reducing a byte
{optional}    .rounds = rounds,
    .round = round,{scratch}
    // For p ranks and m elements: rounds in which anything moves, most elements that one rank sends, most ranks that
    // one rank exchanges messages with. The verifier checks them; schedule/patterns/closed_forms.hpp has more forms.
    .claims = {{{claims}}},
}}}};

}}  // namespace
}}  // namespace timpani::{collective}_{name}
"""


def skeleton(algorithm: str) -> tuple[str, str]:
    """The name of the file for `COLLECTIVE/NAME`, and its text.

    UserError where it names no collective that has a skeleton, or no name for an algorithm.
    """
    collective, _, name = algorithm.partition("/")
    if collective in COLLECTIVES and collective not in _STARTS:
        raise UserError(f"there is no skeleton for {collective}", f"begin from one of {', '.join(_STARTS)}")
    if collective not in _STARTS:
        raise unknown("collective", collective, _STARTS, "timpani list collectives")
    if not _NAME.fullmatch(name):
        raise UserError(
            f"{name!r} can't name an algorithm", f"write small letters, digits and _: {collective}/two_chains"
        )
    start = _STARTS[collective]
    rounds, max_sent, max_neighbors = start.claims
    claims = [f".rounds = {rounds}", f".max_sent = {max_sent}", f".max_neighbors = {max_neighbors}"]
    one_line = ", ".join(claims)
    text = _FILE.format(
        title=COLLECTIVES[collective].title,
        collective=collective,
        name=name,
        about=start.about,
        cost=start.cost,
        round=start.round,
        rounds=start.rounds,
        claims=one_line if len(one_line) <= _ONE_LINE else f",\n{' ' * 15}".join(claims),
        optional=_COMMUTATIVE * start.commutative,
        scratch=_SCRATCH * start.scratch,
    )
    return f"{collective}_{name}.cpp", text
