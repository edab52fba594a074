#pragma once

#include <vector>

namespace timpani {

/// Which ranks of the world run with this library.
struct Roll {
    std::vector<int> present;  // ascending; the same on all of them; empty if they could not find out in time
    bool is_first = false;     // of the ranks that run with it
};

/// Asks the launcher's name service (MPI_Publish_name): messages and collectives would reach ranks without this library
/// (docs/decisions/0009). If the launcher has no such service, all ranks count as present. Call it right after
/// MPI_Init.
Roll call_roll(int rank, int ranks);

}  // namespace timpani
