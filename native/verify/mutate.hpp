#pragma once

#include <string>
#include <vector>

#include "schedule/algorithm.hpp"

namespace timpani {

/// How many planted mistakes the verifier found.
struct MutationResult {
    int made = 0;
    int caught = 0;
    std::vector<std::string> survivors;  // each with its place, for manual review
};

/// Plants one mistake at a time into the schedule for `args`: another peer; a region moved or shortened by one element;
/// a step omitted; a reduction that only copies. It also exchanges the operands of a non-commutative operator, two
/// dependent steps, and two messages of one channel.
MutationResult mutate(const Algorithm& algorithm, const CollectiveArguments& args);

}  // namespace timpani
