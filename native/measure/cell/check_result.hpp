#pragma once

#include <optional>
#include <string>

#include "measure/cell/timed_block.hpp"

namespace timpani {

/// Collective. What the first rank has to say that says anything, on every rank.
std::optional<std::string> first_of_all(const Harness& harness, const std::optional<std::string>& mistake);

/// Collective. Calls the operation once on poisoned buffers and looks at every element. What is wrong on the first
/// rank that found a mistake, or nothing; the same answer on every rank.
std::optional<std::string> check_result(const Harness& harness, Operation& operation, Buffers& buffers);

}  // namespace timpani
