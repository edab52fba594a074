#pragma once

#include <mpi.h>

#include <cstdint>
#include <limits>

#include "execute/derived_datatype.hpp"

namespace timpani {

constexpr std::int64_t kMaxCount = std::numeric_limits<int>::max();  // of MPI's calls with int counts

/// A type whose one element holds `count` consecutive elements of `type`, for messages of more than `kMaxCount`. Some
/// libraries lack MPI 4's calls with large counts, but all support derived types of any length.
inline DerivedDatatype many_elements(MPI_Datatype type, MPI_Aint extent, std::int64_t count) {
    MPI_Datatype part = MPI_DATATYPE_NULL;
    PMPI_Type_contiguous(static_cast<int>(kMaxCount), type, &part);
    const int lengths[]{static_cast<int>(count / kMaxCount), static_cast<int>(count % kMaxCount)};
    const MPI_Aint places[]{0, count / kMaxCount * kMaxCount * extent};
    const MPI_Datatype types[]{part, type};
    MPI_Datatype all = MPI_DATATYPE_NULL;
    PMPI_Type_create_struct(2, lengths, places, types, &all);
    PMPI_Type_free(&part);
    return DerivedDatatype(all);
}

}  // namespace timpani
