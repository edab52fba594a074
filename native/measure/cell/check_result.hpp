#pragma once

#include <optional>
#include <string>

#include "measure/cell/timed_block.hpp"

namespace timpani {

/// Collective. The mistake of the lowest rank that has one, on every rank.
std::optional<std::string> first_mistake(const Harness& harness, const std::optional<std::string>& mistake);

/// Collective. Calls the operation once on poisoned buffers and checks every element. Returns the mistake of the lowest
/// rank that found one, or nothing, the same on every rank.
std::optional<std::string> check_result(const Harness& harness, Operation& operation, Buffers& buffers);

}  // namespace timpani
