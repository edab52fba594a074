#pragma once

namespace timpani {

/// Measures what the plan of that path says, on all ranks of MPI_COMM_WORLD, into the record; both are rank 0's.
void measure_plan(const char* plan_path, const char* record_path);

}  // namespace timpani
