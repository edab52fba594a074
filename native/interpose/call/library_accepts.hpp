#pragma once

#include <mpi.h>

#include <cstdint>

namespace timpani {

// Whether the MPI library accepts arguments, by its own checks: they are passed to a call on a communicator of this
// rank alone that returns errors and moves nothing. Libraries differ in what they check. true where no world is known
// yet.

/// A buffer of a type that is freed or not committed, or a null one that holds data, may be refused.
bool library_accepts(const void* data, std::int64_t count, MPI_Datatype type);

/// An operator that MPI does not define for the type is refused; so are the operators of one-sided calls.
bool library_accepts(MPI_Op op, MPI_Datatype type);

}  // namespace timpani
