#pragma once

namespace timpani {

/// Measures the plan at that path on all ranks of MPI_COMM_WORLD, and writes the record. Both are rank 0's files.
void measure_plan(const char* plan_path, const char* record_path);

}  // namespace timpani
