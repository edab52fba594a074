#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace timpani {

/// An element type that a study may ask for. `write` and `equals` convert the small whole numbers that buffers hold.
struct Datatype {
    MPI_Datatype mpi;
    std::size_t bytes;
    void (*write)(std::byte* at, std::span<const std::uint64_t> values);
    /// Which of the elements at `at` is the first that differs from `values`, those undefined left out; their number
    /// where none does.
    std::size_t (*first_different)(const std::byte* at, std::span<const std::uint64_t> values);
};

/// The datatype of that name; throws std::runtime_error for another.
const Datatype& find_datatype(const std::string& name);

}  // namespace timpani
