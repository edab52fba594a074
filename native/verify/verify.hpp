#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "schedule/algorithm.hpp"

namespace timpani {

/// The steps of one rank over all rounds.
std::vector<Step> steps_of(const Algorithm& algorithm, const CollectiveArguments& args, int rank);

/// The mistake of an algorithm in one case, as text, or nothing.
///
/// All ranks run in one process. A rank issues its steps in order, each when the steps it depends on have ended and the
/// algorithm's bound on messages under way allows it. A message ends for both sides when both have issued it, so that
/// the result doesn't depend on the library's buffering. Contributions are random affine maps over GF(2⁶¹ − 1) and a
/// reduction is their composition, which is associative but not commutative: a result is correct only if it contains
/// each rank's element once and in order. For commutative operators the maps are translations. A mistake is missed with
/// a probability of about 2⁻⁶¹ per element.
///
/// An algorithm with a window is called twice, since in the second call other ranks may still be in the first.
///
/// Finds wrong or missing data, reads of unwritten elements, regions outside their buffer, writes to the caller's send
/// buffer, messages with different sizes or without a receiver, deadlocks, and unordered accesses to a window.
std::optional<std::string> find_mistake(const Algorithm& algorithm, const CollectiveArguments& args);

/// The same for given `steps` of each rank.
std::optional<std::string> find_mistake(const Algorithm& algorithm, const CollectiveArguments& args,
                                        const std::vector<std::vector<Step>>& steps);

/// For each rank the different orders in which a correct reduction adds along its result, by their first element:
/// `[[0,1],2]`, in JSON, adds ranks 0 and 1 first. The side with the lowest rank comes first, since additions commute.
std::vector<std::vector<std::string>> orders_of(const Algorithm& algorithm, const CollectiveArguments& args);

/// A claim of the algorithm that its schedule contradicts in this case, or nothing.
std::optional<std::string> find_false_claim(const Algorithm& algorithm, const CollectiveArguments& args);

/// A rank that contradicts the algorithm's symmetry, or nothing: each rank's steps must be those of rank 0 with
/// renumbered peers, equal sizes, and waits for the same messages.
std::optional<std::string> find_broken_symmetry(const Algorithm& algorithm, const CollectiveArguments& args);

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
