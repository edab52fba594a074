#pragma once

#include <string>
#include <vector>

#include "schedule/algorithm.hpp"

namespace timpani {

/// How the verifier did against mistakes made on purpose.
struct MutationResult {
    int made = 0;
    int caught = 0;
    std::vector<std::string> survivors;  // each with its place, for a person to judge
};

/// Plants one mistake at a time into the schedule at `args`: another peer, a region moved or cut by one element, a
/// step left out, a reduction that only copies, its operands exchanged where order counts, and two dependent steps or
/// two messages of one channel in the other order.
MutationResult mutate(const Algorithm& algorithm, const CollectiveArguments& args);

}  // namespace timpani
