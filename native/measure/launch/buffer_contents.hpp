#pragma once

#include <string>

#include "measure/cell/buffers.hpp"
#include "measure/cell/timed_block.hpp"
#include "operations/operation.hpp"

namespace timpani {

/// Collective. At rank 0 `{"sent":[…],"received":[…],"sent_row":…,"received_row":…}`: the elements in all ranks'
/// buffers, rank after rank, and how many of them are in a row. Throws NotApplicable if there are more than 1,024.
std::string buffer_contents(const Harness& harness, const Operation& operation, Buffers& buffers);

}  // namespace timpani
