#pragma once

#include <mpi.h>

#include <cstdint>

namespace timpani {

// Whether the MPI library accepts arguments, by its own checks. They are passed to a call on a communicator of this
// rank alone that returns errors and moves no data. Libraries check different things. Returns true before MPI starts.

/// It may refuse a buffer of a type that is freed or not committed, or a null buffer that holds data.
bool library_accepts(const void* data, std::int64_t count, MPI_Datatype type);

/// It refuses an operator that MPI does not define for the type, and the operators of one-sided calls.
bool library_accepts(MPI_Op op, MPI_Datatype type);

}  // namespace timpani
