#include "execute/discover_topology.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "execute/node.hpp"
#include "execute/rank_and_size.hpp"

namespace timpani {

namespace {

/// FNV-1a (Fowler, Noll, Vo). Groups whose names have different hashes are different groups.
std::uint64_t number_of(std::string_view text) {
    std::uint64_t number = 0xcbf29ce484222325;
    for (const char each : text) number = (number ^ static_cast<unsigned char>(each)) * 0x100000001b3;
    return number;
}

}  // namespace

Topology discover_topology(MPI_Comm comm, std::string_view group) {
    int lowest = rank_in(comm);
    MPI_Comm node = MPI_COMM_NULL;
    split_by_node(comm, lowest, &node);
    PMPI_Bcast(&lowest, 1, MPI_INT, 0, node);
    PMPI_Comm_free(&node);
    const std::array<std::uint64_t, 2> own{static_cast<std::uint64_t>(lowest), number_of(group)};
    std::vector<std::uint64_t> all(2 * static_cast<std::size_t>(size_of(comm)));
    PMPI_Allgather(own.data(), 2, MPI_UINT64_T, all.data(), 2, MPI_UINT64_T, comm);
    std::vector<int> nodes;
    std::vector<int> groups;
    std::map<std::uint64_t, int> numbers;
    for (std::size_t i = 0; i < all.size(); i += 2) {
        nodes.push_back(static_cast<int>(all[i]));
        groups.push_back(numbers.try_emplace(all[i + 1], static_cast<int>(numbers.size())).first->second);
    }
    return {nodes, groups};
}

}  // namespace timpani
