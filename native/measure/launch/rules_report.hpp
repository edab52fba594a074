#pragma once

#include <optional>
#include <string>

#include "measure/cell/timed_block.hpp"

namespace timpani {

/// Why the rules beneath this program were not followed by calls of `collective` on some rank since this was asked
/// last: libtimpani.so is not loaded, or what it says itself. Collective; nothing where every call that a rule matches
/// was replaced.
std::optional<std::string> rules_not_followed(const Harness& harness, const std::string& collective);

}  // namespace timpani
