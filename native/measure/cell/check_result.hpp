#pragma once

#include <optional>
#include <string>

#include "measure/cell/timed_block.hpp"

namespace timpani {

/// Collective. Calls the operation once on poisoned buffers and checks every element. Returns the mistake of the lowest
/// rank that found one, or nothing, the same on every rank.
std::optional<std::string> check_result(const Harness& harness, Operation& operation, Buffers& buffers);

/// Why calls of `collective` on some rank did not follow the loaded rules since the last call of this function:
/// libtimpani.so is not loaded, or its own reason. Nothing if every call that matches a rule was replaced. Collective.
std::optional<std::string> rules_not_followed(const Harness& harness, const std::string& collective);

}  // namespace timpani
