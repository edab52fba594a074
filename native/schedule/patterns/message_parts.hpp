#pragma once

#include <algorithm>

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/patterns/tree.hpp"

namespace timpani {

// Common to broadcasts by a scatter and an allgather. The message has a part for each rank. Ranks are counted from the
// root, and the scatter sends part v to rank v.

/// Where `rank` has the parts of the ranks [first, end) counted from the root; `end` may exceed the last rank.
inline Region message_parts(const CollectiveArguments& args, int rank, int first, int end) {
    const auto start = part_of(args.count, args.ranks, first).first;
    const auto stop = part_of(args.count, args.ranks, std::min(end, args.ranks) - 1).end();
    return {data_of(args, rank), start, stop - start};
}

/// Round k of ⌈log₂ p⌉ rounds of the scatter down a binomial tree. Each rank receives the parts of its subtree.
inline void scatter_message(const CollectiveArguments& args, int rank, std::int64_t k, Steps& steps) {
    const KnomialTree tree{args.ranks, 2};
    const int me = relative_rank(args, rank);
    if (tree.round_of(me) == k) {
        steps.receive(absolute_rank(args, tree.parent(me)), message_parts(args, rank, me, tree.end(me)));
    }
    if (const int child = tree.child(me, k); child > 0) {
        steps.send(absolute_rank(args, child), message_parts(args, rank, child, tree.end(child)));
    }
}

/// For claims: the number of parts that are not empty, which come first, and of rounds of the scatter that send one.
inline std::int64_t parts_with_elements(const CollectiveArguments& args) {
    return std::min<std::int64_t>(args.ranks, args.count);
}
inline std::int64_t scatter_rounds(const CollectiveArguments& args) { return ceil_log2(parts_with_elements(args)); }

}  // namespace timpani
