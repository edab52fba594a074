#pragma once

#include <mpi.h>

#include <string_view>

namespace timpani {

/// The operator by its name in MPI without the prefix, in small letters; `user` and `user_ordered` for the program's
/// own, which commutes or not. Static storage.
std::string_view operator_class(MPI_Op op);

/// The datatype: `double`, `int32`, `uint8`, …; `other` for further predefined ones, `derived` for the program's own.
/// Static storage.
std::string_view datatype_class(MPI_Datatype type);

}  // namespace timpani
