#include "interpose/communicator/communicator.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "execute/rank_and_size.hpp"
#include "interpose/call/device_memory.hpp"
#include "interpose/process/process.hpp"
#include "interpose/world/world.hpp"
#include "measure/observe/tool_interface.hpp"

namespace timpani {

namespace {

/// How an intracommunicator was made, as far as MPI records it. A duplicate looks like one that was split off.
std::string_view how_made(MPI_Comm comm) {
    if (comm == MPI_COMM_WORLD || comm == MPI_COMM_SELF) return "predefined";
    int topology = MPI_UNDEFINED;
    PMPI_Topo_test(comm, &topology);
    if (topology == MPI_CART) return "cartesian";
    if (topology == MPI_GRAPH) return "graph";
    return topology == MPI_DIST_GRAPH ? "distributed graph" : "";
}

/// The distance from each rank to the next; 0 if there is one rank, or the distances differ.
int stride_of(const std::vector<int>& ranks) {
    if (ranks.size() < 2) return 0;
    const int stride = ranks[1] - ranks[0];
    const bool differs =
        std::ranges::adjacent_find(ranks, [=](int one, int next) { return next - one != stride; }) != ranks.end();
    return differs ? 0 : stride;
}

}  // namespace

Communicator* Communicator::of(MPI_Comm comm) {
    if (comm == MPI_COMM_NULL) return nullptr;
    Communicator* state = nullptr;
    int found = 0;
    if (PMPI_Comm_get_attr(comm, keyval(), static_cast<void*>(&state), &found) != MPI_SUCCESS) return nullptr;
    if (found == 0) {
        state = new Communicator(comm);
        PMPI_Comm_set_attr(comm, keyval(), state);
    }
    return state;
}

void Communicator::end_shared(MPI_Comm comm) {
    void* state = nullptr;
    int found = 0;
    if (PMPI_Comm_get_attr(comm, keyval(), static_cast<void*>(&state), &found) != MPI_SUCCESS) return;
    if (found == 0) return;
    static_cast<Communicator*>(state)->plans().clear_shared();
    static_cast<Communicator*>(state)->chosen_.reset();
}

int Communicator::keyval() {
    static const int key = [] {
        const auto forget = [](MPI_Comm, int, void* state, void*) -> int {  // MPI_SUCCESS may be of an enumeration
            invalidate_cached_communicators();
            delete static_cast<Communicator*>(state);
            return MPI_SUCCESS;
        };
        int made = MPI_KEYVAL_INVALID;
        PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &made, nullptr);
        return made;
    }();
    return key;
}

Communicator::Communicator(MPI_Comm comm) : comm_(comm) {
    int spans_two_groups = 0;
    PMPI_Comm_test_inter(comm, &spans_two_groups);
    PMPI_Comm_rank(comm, &here_.rank);
    PMPI_Comm_size(comm, &here_.ranks);
    spans_two_groups_ = spans_two_groups != 0;
    if (spans_two_groups_) {
        int others = 0;
        PMPI_Comm_remote_size(comm, &others);
        here_.ranks += others;
    }
    const World* const world = World::get();
    if (counting) shape_number_ = Process::get().calls.shape_number(shape());
    if (spans_two_groups_ || here_.ranks == 1 || world == nullptr || !world->has_rules()) return;
    for (const Rule& rule : Process::get().rules.rules) {
        const auto kind = static_cast<std::size_t>(find_collective(rule.collective) - collectives().data());
        rules_[kind].push_back(&rule);
    }
    const auto& all = world->topology();  // each communicator has some of its ranks
    keep_rules([&](const Rule& rule) {
        return rule.ranks.contains(here_.ranks) && all && rule.nodes.low <= all->nodes() &&
               rule.per_node.low <= all->max_ranks_per_node();
    });
}

CommunicatorShape Communicator::shape() const {
    CommunicatorShape shape{
        .between_groups = spans_two_groups_, .ranks = here_.ranks, .made = spans_two_groups_ ? "" : how_made(comm_)};
    const World* const world = World::get();
    if (spans_two_groups_ || world == nullptr || !world->topology()) return shape;
    const auto members = world->find(comm_);
    if (!members) return shape;
    const Topology topology = world->topology_of(*members);
    shape.nodes = topology.nodes();
    shape.per_node = topology.max_ranks_per_node();
    shape.stride = stride_of(*members);
    shape.world = static_cast<int>(members->size()) == size_of(MPI_COMM_WORLD) && std::ranges::is_sorted(*members);
    for (const int member : *members) shape.members = hash_with(shape.members, static_cast<std::uint64_t>(member) + 1);
    return shape;
}

template <typename Keep>
void Communicator::keep_rules(Keep keep) {
    for (std::size_t kind = 0; kind < rules_.size(); ++kind) {
        std::vector<const Rule*>& rules = rules_[kind];
        std::erase_if(rules, [&](const Rule* rule) { return !keep(*rule); });
        may_replace_[kind] = std::ranges::any_of(rules, &Rule::replaces);
        names_sites_[kind] = std::ranges::any_of(rules, [](const Rule* rule) { return !rule->site.empty(); });
    }
}

bool Communicator::may_replace(CollectiveKind kind, std::int64_t bytes) const {
    return std::ranges::any_of(rules(kind),
                               [&](const Rule* rule) { return rule->replaces() && rule->bytes.contains(bytes); });
}

void Communicator::leave_to_library(const char* why) {
    keep_rules([](const Rule&) { return false; });
    if (rank_in(World::get()->comm()) == 0) Process::get().warn_once(why);
}

void Communicator::locate() {
    if (topology_) return;
    const SetupTimer clock("communicator");
    const World& world = *World::get();
    auto members = world.find(comm_);
    if (!members) {
        leave_to_library("communicators with ranks of other programs, or without libtimpani.so, are left to MPI");
        return;
    }
    members_ = std::move(*members);
    const Topology& topology = topology_.emplace(world.topology_of(members_));
    keep_rules([&](const Rule& rule) {
        return rule.nodes.contains(topology.nodes()) && rule.per_node.contains(topology.max_ranks_per_node());
    });
}

int Communicator::open_channel() {
    if (has_channel()) return MPI_SUCCESS;
    const SetupTimer clock("tags");
    const ReturnedErrors returned(comm_);
    int error = World::get()->agree_on_tags(comm_, tag_);
    int devices = ::timpani::has_devices() ? 1 : 0;
    if (error == MPI_SUCCESS) error = PMPI_Allreduce(MPI_IN_PLACE, &devices, 1, MPI_INT, MPI_MAX, comm_);
    has_devices_ = devices != 0;
    if (error == MPI_SUCCESS && !has_channel()) {
        leave_to_library("no tags are left: communicators that are new are left to MPI");
    }
    return error;
}

Channel Communicator::channel() const { return {comm_, World::get()->comm(), members_, tag_}; }

void Communicator::disable_shared_memory() {
    keep_rules([](const Rule& rule) { return rule.algorithm == nullptr || rule.algorithm->window == nullptr; });
}

bool Communicator::can_choose(const Rule& rule, int& error) {
    if (std::ranges::find(can_choose_, &rule) != can_choose_.end()) return true;
    const SetupTimer clock("communicator");
    // Open until the process ends: the program may call MPI_T as well, and closing it after MPI crashes Open MPI 4.1.
    static const ToolInterface* const tools = new ToolInterface;
    static_cast<void>(tools);
    std::string problem;
    try {
        const ScopedControls creation(rule.at_creation);
        const ScopedControls call(rule.at_call);
    } catch (const std::runtime_error& refused) {
        problem = refused.what();
    }
    int possible = problem.empty() ? 1 : 0;
    const ReturnedErrors returned(comm_);
    error = PMPI_Allreduce(MPI_IN_PLACE, &possible, 1, MPI_INT, MPI_LAND, comm_);
    if (error != MPI_SUCCESS) return false;
    if (possible != 0) {
        can_choose_.push_back(&rule);
        if (!chosen_) chosen_ = std::make_unique<ControlledCommunicators>(comm_);
        return true;
    }
    if (!problem.empty()) Process::get().warn_once("the library keeps its choice: " + problem);
    keep_rules([](const Rule& other) { return !other.chooses_in_library(); });
    return false;
}

}  // namespace timpani
