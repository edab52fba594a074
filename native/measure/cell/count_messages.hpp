#pragma once

#include <string>

#include "measure/cell/buffers.hpp"
#include "measure/cell/harness.hpp"
#include "measure/observe/tool_interface.hpp"
#include "operations/operation.hpp"

namespace timpani {

/// Collective. Calls the operation twice and counts the messages of the second call by `sent`, since the first call on
/// a communicator may include its setup. At rank 0 returns `{"messages":[[…],…],"bytes":[[…],…]}` with one row per
/// sender.
std::string count_messages(const Harness& harness, const SentSoFar& sent, Operation& operation, Buffers& buffers);

}  // namespace timpani
