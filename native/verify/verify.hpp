#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "schedule/algorithm.hpp"

namespace timpani {

/// The steps of one rank over all rounds.
std::vector<Step> steps_of(const Algorithm& algorithm, const CollectiveArguments& args, int rank);

/// What is wrong with an algorithm in one case, in words, or nothing.
///
/// All ranks run in one process. A rank issues its steps in their order, each once the steps that it depends on
/// have ended and the algorithm's bound on messages under way allows it; a message ends for both sides when both have
/// issued it, so that nothing relies on the library's buffers.
/// Contributions are random affine maps over GF(2⁶¹ − 1) and a reduction is their composition, which is associative but
/// not commutative: a result is right only if each rank's element is in it once and in its place. Where the operator
/// commutes they are translations, and order is free. A mistake escapes with a probability of about 2⁻⁶¹ an element.
///
/// An algorithm with a window is called twice, since the second call finds other ranks still in the first.
///
/// Found: wrong or missing data, elements read that nobody wrote, regions outside their buffer, the caller's send
/// buffer written, messages whose sizes differ or that nobody takes, ranks that wait for each other, and accesses to a
/// window that no messages order.
std::optional<std::string> find_mistake(const Algorithm& algorithm, const CollectiveArguments& args);

/// As above, for steps that need not be the algorithm's own: `steps` holds each rank's.
std::optional<std::string> find_mistake(const Algorithm& algorithm, const CollectiveArguments& args,
                                        const std::vector<std::vector<Step>>& steps);

/// Which of the algorithm's claims is not what its schedule does in this case, or nothing.
std::optional<std::string> find_false_claim(const Algorithm& algorithm, const CollectiveArguments& args);

/// Whether a rank does other than its algorithm's symmetry says, or nothing: its steps are those of rank 0 with peers
/// renumbered, of the same size, and wait for the same messages.
std::optional<std::string> find_broken_symmetry(const Algorithm& algorithm, const CollectiveArguments& args);

}  // namespace timpani
