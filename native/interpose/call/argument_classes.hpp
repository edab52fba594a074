#pragma once

#include <mpi.h>

#include <string_view>

namespace timpani {

/// Whether MPI defines the type. `type` must be valid: MPI reports others to the handler of MPI_COMM_WORLD.
inline bool predefined_type(MPI_Datatype type) {
    int integers = 0;
    int addresses = 0;
    int types = 0;
    int combiner = 0;
    PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    return combiner == MPI_COMBINER_NAMED;
}

/// Whether MPI defines the operator for reductions.
bool predefined_op(MPI_Op op);

/// The operator by its name in MPI, without the prefix and in lower case. The program's own operators are `user` if
/// they commute, else `user_ordered`. Static storage.
std::string_view operator_class(MPI_Op op);

/// The datatype: `double`, `int32`, `uint8`, …; `other` for further predefined types, `derived` for the program's own.
/// Static storage.
std::string_view datatype_class(MPI_Datatype type);

}  // namespace timpani
