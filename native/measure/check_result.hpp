#pragma once

#include <optional>
#include <string>

#include "measure/timed_block.hpp"

namespace timpani {

/// Collective. Calls the operation once on poisoned buffers and looks at every element. What is wrong on the first
/// rank that found a mistake, or nothing; the same answer on every rank.
std::optional<std::string> check_result(const Harness& harness, Operation& operation, Buffers& buffers);

}  // namespace timpani
