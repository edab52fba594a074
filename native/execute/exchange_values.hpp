#pragma once

#include <mpi.h>

#include <cstddef>
#include <numeric>
#include <type_traits>
#include <vector>

#include "execute/rank_and_size.hpp"

namespace timpani {

// `Values` is a vector or a text, of any length on each rank. Its elements are copied as bytes.

/// Collective. All ranks' values at rank 0, in the order of ranks; nothing at other ranks.
template <typename Values>
Values gather_values(const Values& own, MPI_Comm comm) {
    using Value = typename Values::value_type;
    static_assert(std::is_trivially_copyable_v<Value>);
    const int bytes = static_cast<int>(own.size() * sizeof(Value));
    std::vector<int> lengths(static_cast<std::size_t>(size_of(comm)));  // stays 0 at other ranks than 0
    PMPI_Gather(&bytes, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, comm);
    std::vector<int> starts(lengths.size());
    std::exclusive_scan(lengths.begin(), lengths.end(), starts.begin(), 0);
    Values all;
    all.resize(static_cast<std::size_t>(starts.back() + lengths.back()) / sizeof(Value));
    PMPI_Gatherv(own.data(), bytes, MPI_BYTE, all.data(), lengths.data(), starts.data(), MPI_BYTE, 0, comm);
    return all;
}

/// Collective. The values of rank `root`, on all ranks.
template <typename Values>
Values broadcast_values(Values values, int root, MPI_Comm comm) {
    using Value = typename Values::value_type;
    static_assert(std::is_trivially_copyable_v<Value>);
    auto bytes = static_cast<int>(values.size() * sizeof(Value));
    PMPI_Bcast(&bytes, 1, MPI_INT, root, comm);
    values.resize(static_cast<std::size_t>(bytes) / sizeof(Value));
    PMPI_Bcast(values.data(), bytes, MPI_BYTE, root, comm);
    return values;
}

}  // namespace timpani
