#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "schedule/algorithm.hpp"

namespace timpani {

/// The ranges of a verification: every rank count, and the counts at which algorithms change: none, one, a few, one
/// less and one more than the rank count, and the last.
struct Extent {
    int first_ranks;
    int last_ranks;
    std::int64_t first_count;
    std::int64_t last_count;
};

/// Calls `visit` with each case of `extent` that the algorithm admits, with several roots, parameter values, kinds of
/// operator, and for v-collectives block distributions; stops when `visit` returns false.
void for_each_case(const Algorithm& algorithm, const Extent& extent,
                   const std::function<bool(const CollectiveArguments&)>& visit);

/// `5 ranks, 3 elements, root 2, radix 4, order kept`: describes a case.
std::string show(const Algorithm& algorithm, const CollectiveArguments& args);

}  // namespace timpani
