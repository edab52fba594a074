#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "schedule/algorithm.hpp"

namespace timpani {

/// The ranges that a verification covers: every rank count, and of the counts those where algorithms change what they
/// do: none, one, a few, one less and one more than there are ranks, and the last.
struct Extent {
    int first_ranks;
    int last_ranks;
    std::int64_t first_count;
    std::int64_t last_count;
};

/// Calls `visit` with each case of `extent` that the algorithm applies to, with several roots, parameter values, kinds
/// of operator, and for v-collectives several distributions; until `visit` returns false.
void for_each_case(const Algorithm& algorithm, const Extent& extent,
                   const std::function<bool(const CollectiveArguments&)>& visit);

/// `5 ranks, 3 elements, root 2, radix 4, order kept`: what a mistake was found at.
std::string show(const Algorithm& algorithm, const CollectiveArguments& args);

}  // namespace timpani
