// Functions that SimGrid lacks: a node consists of several hosts if a host is a core, and copying takes time.

#include <simgrid/actor.h>
#include <simgrid/host.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <string_view>
#include <vector>

#include "execute/node.hpp"
#include "execute/rank_and_size.hpp"

namespace timpani {

namespace {

/// A property of this rank's host in the platform file; nullptr if it is not set.
const char* property(const char* name) { return sg_host_get_property_value(sg_host_self(), name); }

}  // namespace

int split_by_node(MPI_Comm comm, int key, MPI_Comm* node) {
    const char* const named = property("node");
    const std::uint64_t own = std::hash<std::string_view>()(named == nullptr ? sg_host_self_get_name() : named);
    std::vector<std::uint64_t> all(static_cast<std::size_t>(size_of(comm)));
    PMPI_Allgather(&own, 1, MPI_UINT64_T, all.data(), 1, MPI_UINT64_T, comm);
    const auto lowest = static_cast<int>(std::ranges::find(all, own) - all.begin());
    return PMPI_Comm_split(comm, lowest, key, node);
}

void pass_time_of_copying(std::int64_t bytes) {
    const char* const rate = property("memory_bytes_per_s");
    const double bytes_per_second = rate == nullptr ? 0.0 : std::strtod(rate, nullptr);
    if (bytes > 0 && bytes_per_second > 0) sg_actor_sleep_for(static_cast<double>(bytes) / bytes_per_second);
}

}  // namespace timpani
