#include "interpose/world/world.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <sstream>

#include "execute/discover_topology.hpp"
#include "execute/rank_and_size.hpp"
#include "interpose/process/process.hpp"
#include "interpose/process/setup_timer.hpp"
#include "interpose/world/roll_call.hpp"

namespace timpani {

namespace {

constexpr int kTagsOfAChannel = 2;  // messages, and copies from a rank to itself
constexpr int kMaxTries = 100;      // if threads of other ranks take tags meanwhile; usually one try suffices

/// The largest tag. The standard guarantees 32767.
int largest_tag() {
    void* value = nullptr;
    int found = 0;
    PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, static_cast<void*>(&value), &found);
    return found == 0 ? 32767 : *static_cast<int*>(value);
}

/// The artificial error of this rank's clock for a test: a rank, nanoseconds, parts per million.
ClockSkew skew_of(const std::string& text, int rank) {
    ClockSkew skew{.rank = -1};
    std::istringstream(text) >> skew.rank >> skew.offset_ns >> skew.drift_ppm;
    return skew.rank == rank ? skew : ClockSkew{};
}

}  // namespace

void World::begin() {
    Process& process = Process::get();
    if (process.settings.idle() || get() != nullptr) return;
    const int rank = rank_in(MPI_COMM_WORLD);
    process.clock = LocalClock(skew_of(process.settings.clock_skew, rank));
    process.began_ns = process.clock.now();
    const int ranks = size_of(MPI_COMM_WORLD);
    const SetupTimer clock("world");
    Roll roll = call_roll(rank, ranks);
    const auto present = static_cast<int>(roll.present.size());
    if (present < ranks) {
        const std::string missing =
            present == 0 ? "rank 0 runs without libtimpani.so, or ranks here and there: all is left to MPI, uncounted"
                         : std::to_string(ranks - present) + " of " + std::to_string(ranks) +
                               " ranks run without libtimpani.so: communicators with one of them are left to MPI";
        if (roll.is_first) process.warn_once(missing);
        process.refuse(missing);
        if (present == 0) counting = false;
    }
    if (present > 0) current.store(new World(std::move(roll.present), roll.is_first), std::memory_order_release);
}

void World::end() { delete current.exchange(nullptr); }

World::World(std::vector<int> present, bool is_first) : most_tags_(largest_tag()) {
    MPI_Comm parent = MPI_COMM_NULL;
    PMPI_Comm_get_parent(&parent);
    spawned_ = parent != MPI_COMM_NULL;
    Process& process = Process::get();
    MPI_Group world = MPI_GROUP_NULL;
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Group_incl(world, static_cast<int>(present.size()), present.data(), &group_);
    // Not a duplicate: that would copy attributes, and call the program's functions to do so.
    if (size_of(MPI_COMM_WORLD) == static_cast<int>(present.size())) {
        PMPI_Comm_create(MPI_COMM_WORLD, world, &comm_);
    } else {
        PMPI_Comm_create_group(MPI_COMM_WORLD, group_, 0, &comm_);
    }
    PMPI_Group_free(&world);
    PMPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    MPI_Group self = MPI_GROUP_NULL;
    PMPI_Comm_group(MPI_COMM_SELF, &self);
    PMPI_Comm_create(MPI_COMM_SELF, self, &alone_);
    PMPI_Group_free(&self);
    PMPI_Comm_set_errhandler(alone_, MPI_ERRORS_RETURN);
    const std::string problem = agree_on_rules();
    if (!problem.empty()) {
        if (is_first) process.warn_once(problem + "; the library's algorithms are used");
        process.refuse(problem);
    }
    if (has_rules_ || counting) topology_ = discover_topology(comm_, process.settings.group);
    if (!counting) return;
    clock_ = std::make_unique<GlobalClock>(comm_, process.clock);
    clock_->synchronize();
}

World::~World() {
    clock_.reset();
    PMPI_Group_free(&group_);
    PMPI_Comm_free(&alone_);
    PMPI_Comm_free(&comm_);
}

/// Why requested rules can't be used; empty if they can.
std::string World::agree_on_rules() {
    const Process& process = Process::get();
    const RulesFile& file = process.rules;
    int level = MPI_THREAD_SINGLE;
    PMPI_Query_thread(&level);
    // The maximum of a number and that of its negative show whether all ranks have the same number.
    const std::array<std::int64_t, 7> own{file.problem.empty() ? 0 : 1,
                                          file.fingerprint,
                                          -file.fingerprint,
                                          level == MPI_THREAD_MULTIPLE ? 1 : 0,
                                          process.settings.counts() ? 0 : 1,
                                          process.settings.rules.empty() ? 0 : 1,
                                          process.settings.fault_tolerance ? 1 : 0};
    std::array<std::int64_t, 7> maximum{};
    PMPI_Allreduce(own.data(), maximum.data(), static_cast<int>(own.size()), MPI_INT64_T, MPI_MAX, comm_);
    const bool read = maximum[0] == 0;
    const bool same = maximum[1] == -maximum[2];
    threads_ = maximum[3] != 0;
    counting = maximum[4] == 0;
    const bool has_rules = read && same && maximum[5] != 0;
    has_rules_ = has_rules && maximum[6] == 0;
    if (has_rules && !has_rules_)
        return "with fault tolerance (mpi_ft_enable) only MPI's own collectives end when a rank is lost";
    if (read && same) return {};
    if (!file.problem.empty()) return file.problem;
    return (read ? "ranks read different rules from " : "other ranks could not read ") + process.settings.rules;
}

std::optional<std::vector<int>> World::find(MPI_Comm comm) const {
    MPI_Group group = MPI_GROUP_NULL;
    PMPI_Comm_group(comm, &group);
    std::vector<int> members(static_cast<std::size_t>(size_of(comm)));
    std::iota(members.begin(), members.end(), 0);
    std::vector<int> found(members.size());
    PMPI_Group_translate_ranks(group, static_cast<int>(members.size()), members.data(), group_, found.data());
    PMPI_Group_free(&group);
    if (std::ranges::find(found, MPI_UNDEFINED) != found.end()) return {};
    return found;
}

Topology World::topology_of(const std::vector<int>& ranks) const {
    std::vector<int> nodes;
    std::vector<int> groups;
    const Topology& all = *topology_;  // NOLINT(bugprone-unchecked-optional-access): called only if there are rules
    for (const int rank : ranks) {
        nodes.push_back(all.node_of(rank));
        groups.push_back(all.group_of(nodes.back()));
    }
    return {nodes, groups};
}

int World::agree_on_tags(MPI_Comm comm, int& tag) {
    int error = MPI_SUCCESS;
    for (int tries = 0; tries < kMaxTries; ++tries) {
        int last = tags_.load();
        tag = last + 1;
        error = PMPI_Allreduce(MPI_IN_PLACE, &tag, 1, MPI_INT, MPI_MAX, comm);
        if (error != MPI_SUCCESS || tag > most_tags_ - kTagsOfAChannel) break;
        // Several threads may take tags at once. A tag is taken if no thread of any rank took it meanwhile.
        int taken = 0;
        while (last < tag && taken == 0) taken = tags_.compare_exchange_weak(last, tag + kTagsOfAChannel - 1) ? 1 : 0;
        if (threads_) error = PMPI_Allreduce(MPI_IN_PLACE, &taken, 1, MPI_INT, MPI_MIN, comm);
        if (error != MPI_SUCCESS) break;
        if (taken != 0) return MPI_SUCCESS;
    }
    tag = -1;
    return error;
}

}  // namespace timpani
