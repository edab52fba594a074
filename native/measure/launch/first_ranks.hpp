#pragma once

#include "measure/cell/timed_block.hpp"
#include "measure/files/plan.hpp"
#include "measure/files/record.hpp"

namespace timpani {

/// Measures the points of `section`, one of `plan`, on a communicator of the first ranks of `all` while the others
/// sleep. Collective over `all`; `record` is nullptr but at rank 0. Throws std::runtime_error where there are fewer
/// ranks.
void measure_on_first_ranks(const Plan& plan, const Section& section, const Harness& all, const Record* record);

}  // namespace timpani
