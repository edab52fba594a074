#pragma once

#include <mpi.h>

namespace timpani {

inline int rank_in(MPI_Comm comm) {
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    return rank;
}

inline int size_of(MPI_Comm comm) {
    int size = 0;
    PMPI_Comm_size(comm, &size);
    return size;
}

/// Whether the library has a function. Carried programs are linked weakly with those that the oldest library lacks.
template <typename Result, typename... Arguments>
[[nodiscard]] bool is_linked(Result (*function)(Arguments...)) {
    return function != nullptr;
}

}  // namespace timpani
