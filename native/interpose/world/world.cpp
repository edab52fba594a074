#include "interpose/world/world.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <sstream>
#include <string_view>
#include <thread>
#include <vector>

#include "execute/discover_topology.hpp"
#include "execute/rank_and_size.hpp"
#include "interpose/process/process.hpp"

namespace timpani {

namespace {

/// Which ranks of the world run with this library.
struct Roll {
    std::vector<int> present;  // ascending; the same on all of them; empty if they could not find out in time
    bool is_first = false;     // of the ranks that run with it
};

using Clock = std::chrono::steady_clock;

// Ranks leave MPI_Init at nearly the same time. If rank 0 is there, the others wait longer than it waits for them.
constexpr std::chrono::seconds kWaitForOthers{5};
constexpr std::chrono::seconds kWaitForAnswer{15};
constexpr std::chrono::microseconds kMinPause{100};
constexpr std::chrono::microseconds kMaxPause{20'000};
constexpr std::size_t kMaxAnswerLength = 200;  // MPICH has 256 bytes for a port's name
constexpr std::string_view kNobody = "nobody";

/// Ranks as text, `0-3,7`.
std::string as_ranges(const std::vector<int>& ranks) {
    std::string text;
    for (std::size_t i = 0; i < ranks.size();) {
        std::size_t last = i;
        while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
        if (!text.empty()) text += ',';
        text += std::to_string(ranks[i]);
        if (last > i) text += '-' + std::to_string(ranks[last]);
        i = last + 1;
    }
    return text;
}

/// The inverse; none of another text.
std::vector<int> from_ranges(const std::string& text) {
    std::vector<int> ranks;
    std::istringstream parts(text);
    for (int first = 0; parts >> first; parts.ignore()) {  // the comma
        int last = first;
        if (parts.peek() == '-') parts.ignore() >> last;
        for (int rank = first; rank <= last; ++rank) ranks.push_back(rank);
    }
    return ranks;
}

/// What the ranks of one world publish and look up, under private names.
class NameService {
  public:
    NameService() {
        const char* const job = std::getenv("PMIX_NAMESPACE");  // programs that were spawned share the service
        prefix_ = std::string("timpani.") + (job == nullptr ? "" : job) + ".";
    }

    [[nodiscard]] bool publish(const std::string& name, const std::string& value) const {
        return PMPI_Publish_name((prefix_ + name).c_str(), MPI_INFO_NULL, value.c_str()) == MPI_SUCCESS;
    }
    [[nodiscard]] std::optional<std::string> look_up(const std::string& name) const {
        std::array<char, MPI_MAX_PORT_NAME + 1> value{};
        if (PMPI_Lookup_name((prefix_ + name).c_str(), MPI_INFO_NULL, value.data()) != MPI_SUCCESS) return {};
        return value.data();
    }
    /// Waits until the name is published, at most until `deadline`.
    [[nodiscard]] std::optional<std::string> wait_for(const std::string& name, Clock::time_point deadline) const {
        for (auto pause = kMinPause;; pause = std::min(2 * pause, kMaxPause)) {
            if (auto value = look_up(name)) return value;
            if (Clock::now() >= deadline) return {};
            std::this_thread::sleep_for(pause);
        }
    }

  private:
    std::string prefix_;
};

// Names: each rank's number, when it is there; `answer`: what rank 0 found; `gave-up`: by a rank that waited too long
// for the answer; `final`: what applies. A rank that gave up then reads `answer`, and rank 0 reads `gave-up` after it
// wrote `answer`. One of them sees the other, so no rank uses an answer that others don't have.

std::vector<int> collect(const NameService& names, int ranks) {
    std::vector<int> present{0};
    const auto deadline = Clock::now() + kWaitForOthers;
    for (int rank = 1; rank < ranks; ++rank) {
        if (names.wait_for(std::to_string(rank), deadline)) present.push_back(rank);
    }
    std::string answer = as_ranges(present);
    if (answer.size() > kMaxAnswerLength) answer = kNobody;
    if (!names.publish("answer", answer) || names.look_up("gave-up")) answer = kNobody;
    if (!names.publish("final", answer)) answer = kNobody;
    return from_ranges(answer);
}

std::vector<int> await_answer(const NameService& names) {
    const auto began = Clock::now();
    auto answer = names.wait_for("final", began + kWaitForOthers);
    if (!answer && names.look_up("0")) answer = names.wait_for("final", began + kWaitForAnswer);
    if (!answer) {
        const bool published = names.publish("gave-up", "yes");
        if (published && names.look_up("answer")) answer = names.wait_for("final", Clock::time_point::max());
    }
    return from_ranges(answer.value_or(std::string(kNobody)));
}

/// Whether no lower rank has the library, if rank 0 does not.
bool is_first(const NameService& names, int rank) {
    for (int before = 0; before < rank; ++before) {
        if (names.look_up(std::to_string(before))) return false;
    }
    return true;
}

/// Asks the launcher's name service (MPI_Publish_name): messages and collectives would reach ranks without this library
/// (docs/decisions/0009). If the launcher has no such service, all ranks count as present. Call it right after
/// MPI_Init.
Roll call_roll(int rank, int ranks) {
    Roll all{.present = std::vector<int>(static_cast<std::size_t>(ranks)), .is_first = rank == 0};
    std::iota(all.present.begin(), all.present.end(), 0);
    MPI_Comm parent = MPI_COMM_NULL;
    PMPI_Comm_get_parent(&parent);
    if (ranks == 1) return all;
    // Spawned, and the name service can't distinguish its world from others.
    if (parent != MPI_COMM_NULL && std::getenv("PMIX_NAMESPACE") == nullptr) return all;
    const ReturnedErrors of_world(MPI_COMM_WORLD);  // MPI 3 reports errors there,
    const ReturnedErrors of_self(MPI_COMM_SELF);    // and MPI 4 here
    const NameService names;
    if (!names.publish(std::to_string(rank), "here")) return all;
    std::vector<int> present = rank == 0 ? collect(names, ranks) : await_answer(names);
    if (!std::ranges::binary_search(present, rank)) present.clear();  // it was too late: the others continue without it
    return {present, present.empty() ? is_first(names, rank) : present.front() == rank};
}

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
