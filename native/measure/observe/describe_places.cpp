#include "measure/observe/describe_places.hpp"

#include <sched.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <fstream>
#include <set>
#include <vector>

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

/// Every rank's text, as a JSON array at rank 0.
std::string gather_texts(const std::string& own, MPI_Comm comm, int rank, int size) {
    auto length = static_cast<int>(own.size());
    std::vector<int> lengths(static_cast<std::size_t>(size));
    MPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, comm);
    std::vector<int> starts(static_cast<std::size_t>(size));
    int total = 0;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
        starts[i] = total;
        total += lengths[i];
    }
    std::string all(rank == 0 ? static_cast<std::size_t>(total) : 0, ' ');
    MPI_Gatherv(own.data(), length, MPI_CHAR, all.data(), lengths.data(), starts.data(), MPI_CHAR, 0, comm);
    std::vector<std::string> texts;
    for (std::size_t i = 0; rank == 0 && i < lengths.size(); ++i) {
        texts.push_back(all.substr(static_cast<std::size_t>(starts[i]), static_cast<std::size_t>(lengths[i])));
    }
    return json_array(texts);
}

}  // namespace

std::string describe_places(MPI_Comm comm, int rank, int size) {
    return gather_texts(describe_place(rank), comm, rank, size);
}

}  // namespace timpani
