#include "interpose/call/library_accepts.hpp"

#include <algorithm>
#include <limits>

#include "interpose/call/argument_classes.hpp"
#include "interpose/world/world.hpp"

namespace timpani {

bool library_accepts(const void* data, std::int64_t count, MPI_Datatype type) {
    static thread_local MPI_Datatype accepted = MPI_DATATYPE_NULL;  // the predefined type that was last checked
    if (data != nullptr && count >= 0 && type == accepted && type != MPI_DATATYPE_NULL) return true;
    const World* const world = World::get();
    if (world == nullptr) return true;
    const auto elements = static_cast<int>(std::min<std::int64_t>(count, std::numeric_limits<int>::max()));
    if (PMPI_Send(data, elements, type, MPI_PROC_NULL, 0, world->alone()) != MPI_SUCCESS) return false;
    if (predefined_type(type)) accepted = type;
    return true;
}

bool library_accepts(MPI_Op op, MPI_Datatype type) {
    static thread_local MPI_Op accepted_op = MPI_OP_NULL;  // likewise, both predefined
    static thread_local MPI_Datatype accepted_type = MPI_DATATYPE_NULL;
    if (op == accepted_op && type == accepted_type && op != MPI_OP_NULL) return true;
    if (op == MPI_REPLACE || op == MPI_NO_OP) return false;
    const World* const world = World::get();
    if (world == nullptr) return true;
    char sent = 0;
    char received = 0;
    if (PMPI_Allreduce(&sent, &received, 0, type, op, world->alone()) != MPI_SUCCESS) return false;
    if (predefined_op(op) && predefined_type(type)) {
        accepted_op = op;
        accepted_type = type;
    }
    return true;
}

}  // namespace timpani
