#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include "collectives/collective.hpp"

namespace timpani {

/// The values of elements that follow each other in a buffer.
using Values = std::span<std::uint64_t>;

/// The value of an element that a call leaves undefined.
constexpr std::uint64_t kUndefined = std::numeric_limits<std::uint64_t>::max();

/// Sets `values` to the values of the elements from `first` on. It fills whole ranges, since a call for each element of
/// a large message would take longer than measuring it.
template <typename ValueOf>
void fill(Values values, std::int64_t first, ValueOf value_of) {
    for (auto& value : values) value = value_of(first++);
}

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
