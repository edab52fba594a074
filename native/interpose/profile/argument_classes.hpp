#pragma once

#include <mpi.h>

#include <string_view>

namespace timpani {

/// The operator by its name in MPI, without the prefix and in lower case. The program's own operators are `user` if
/// they commute, else `user_ordered`. Static storage.
std::string_view operator_class(MPI_Op op);

/// The datatype: `double`, `int32`, `uint8`, …; `other` for further predefined types, `derived` for the program's own.
/// Static storage.
std::string_view datatype_class(MPI_Datatype type);

}  // namespace timpani
