#include "measure/observe/describe_places.hpp"

#include <sched.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <fstream>
#include <set>
#include <vector>

#include "execute/exchange_values.hpp"
#include "execute/rank_and_size.hpp"
#include "json/json.hpp"
#include "measure/clock/local_clock.hpp"

namespace timpani {

namespace {

/// The socket of a core in Linux's numbering; -1 if Linux doesn't report it.
std::int64_t socket_of(std::int64_t core) {
    std::int64_t socket = -1;
    std::ifstream("/sys/devices/system/cpu/cpu" + std::to_string(core) + "/topology/physical_package_id") >> socket;
    return socket;
}

/// The last-level cache of a core, as the lowest CPU that shares it; -1 if Linux doesn't report it.
std::int64_t cache_of(std::int64_t core) {
    std::int64_t first_cpu = -1;
    int highest = 0;
    for (int index = 0;; ++index) {
        const auto folder =
            "/sys/devices/system/cpu/cpu" + std::to_string(core) + "/cache/index" + std::to_string(index);
        int level = 0;
        if (!(std::ifstream(folder + "/level") >> level)) return first_cpu;
        if (level <= highest) continue;
        highest = level;
        std::ifstream(folder + "/shared_cpu_list") >> first_cpu;
    }
}

std::string describe_place(int rank) {
    std::array<char, MPI_MAX_PROCESSOR_NAME + 1> host{};
    cpu_set_t set;
    CPU_ZERO(&set);
    if constexpr (kSimulated) {  // only MPI knows a simulated rank's host
        int length = 0;
        MPI_Get_processor_name(host.data(), &length);
    } else {
        gethostname(host.data(), host.size() - 1);
        sched_getaffinity(0, sizeof set, &set);
    }
    std::vector<std::int64_t> cores;
    std::set<std::int64_t> sockets;
    std::set<std::int64_t> caches;
    for (int core = 0; core < CPU_SETSIZE; ++core) {
        if (!CPU_ISSET(core, &set)) continue;
        cores.push_back(core);
        sockets.insert(socket_of(core));
        caches.insert(cache_of(core));
    }
    return JsonObject()
        .add("rank", rank)
        .add("host", host.data())
        .add("cores", cores)
        .add("sockets", std::vector<std::int64_t>(sockets.begin(), sockets.end()))
        .add("caches", std::vector<std::int64_t>(caches.begin(), caches.end()))
        .text();
}

}  // namespace

std::string describe_places(MPI_Comm comm) {
    const int rank = rank_in(comm);
    std::string own(rank == 0 ? "[" : ",");
    own += describe_place(rank);
    return gather_values(own, comm) + "]";
}

}  // namespace timpani
