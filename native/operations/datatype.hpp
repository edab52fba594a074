#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace timpani {

/// An element type that a study may ask for. `write` and `equals` convert the small whole numbers that buffers hold.
struct Datatype {
    MPI_Datatype mpi;
    std::size_t bytes;
    void (*write)(std::byte* at, std::uint64_t value);
    bool (*equals)(const std::byte* at, std::uint64_t value);
};

/// The datatype of that name; throws std::runtime_error for another.
const Datatype& find_datatype(const std::string& name);

}  // namespace timpani
