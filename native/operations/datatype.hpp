#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "collectives/collective.hpp"

namespace timpani {

/// An element type for studies, and the operator that reduces it. `write` and `read` convert the small integers that
/// buffers hold.
struct Datatype {
    MPI_Datatype mpi;
    MPI_Op op;
    Combination combination;
    std::size_t bytes;
    void (*write)(std::byte* at, std::span<const std::uint64_t> values);
    void (*read)(const std::byte* at, std::span<std::uint64_t> values);
    /// The index of the first element at `at` that differs from `values`, undefined ones skipped; the number of values
    /// if none differs.
    std::size_t (*first_different)(const std::byte* at, std::span<const std::uint64_t> values);
};

/// The datatype of that name, reduced by `reduction`, as in `sum`. Throws std::runtime_error if a name is unknown.
const Datatype& find_datatype(const std::string& name, const std::string& reduction = "sum");

}  // namespace timpani
