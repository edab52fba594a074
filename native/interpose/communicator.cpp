#include "interpose/communicator.hpp"

#include <algorithm>
#include <string>

#include "execute/discover_topology.hpp"
#include "interpose/communicator_cache.hpp"
#include "interpose/process.hpp"
#include "interpose/setup_timer.hpp"

namespace timpani {

namespace {

/// While it lives, errors on a communicator are returned to us and not handed to the program's handler.
class ReturnedErrors {
  public:
    explicit ReturnedErrors(MPI_Comm comm) : comm_(comm) {
        PMPI_Comm_get_errhandler(comm, &handler_);
        PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    }
    ~ReturnedErrors() {
        PMPI_Comm_set_errhandler(comm_, handler_);
        PMPI_Errhandler_free(&handler_);
    }
    ReturnedErrors(const ReturnedErrors&) = delete;
    ReturnedErrors& operator=(const ReturnedErrors&) = delete;

  private:
    MPI_Comm comm_;
    MPI_Errhandler handler_ = MPI_ERRHANDLER_NULL;
};

/// Whether this rank warns for all: the first of the world or, without a world, of its communicator.
bool warns_for_all(RankInComm here) {
    int initialised = 0;
    PMPI_Initialized(&initialised);
    int rank = here.rank;
    if (initialised != 0) PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank == 0;
}

}  // namespace

Communicator* Communicator::of(MPI_Comm comm) {
    if (comm == MPI_COMM_NULL) return nullptr;
    Process& process = Process::get();
    Communicator* state = nullptr;
    int found = 0;
    if (PMPI_Comm_get_attr(comm, process.keyval(), static_cast<void*>(&state), &found) != MPI_SUCCESS) return nullptr;
    if (found == 0) {
        state = new Communicator(comm);
        PMPI_Comm_set_attr(comm, process.keyval(), state);
    }
    return state;
}

void Communicator::end_windows(MPI_Comm comm) {
    void* state = nullptr;
    int found = 0;
    if (PMPI_Comm_get_attr(comm, Process::get().keyval(), static_cast<void*>(&state), &found) != MPI_SUCCESS) return;
    if (found != 0) static_cast<Communicator*>(state)->plans().clear_shared();
}

void Communicator::forget(Communicator* state) {
    invalidate_cached_communicators();
    delete state;
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
    if (spans_two_groups_ || here_.ranks == 1 || Process::get().settings.rules.empty()) return;
    const SetupTimer clock("rules", here_.ranks);
    if (agree_on_rules()) choose_rules([this](const Rule& rule) { return rule.ranks.contains(here_.ranks); });
}

Communicator::~Communicator() {
    if (private_comm_ != MPI_COMM_NULL) PMPI_Comm_free(&private_comm_);
}

bool Communicator::agree_on_rules() const {
    Process& process = Process::get();
    const RulesFile& file = process.rules;
    // The largest of a number and of its negative are one number's where all ranks have the same.
    const std::array<std::int64_t, 3> own{file.problem.empty() ? 0 : 1, file.fingerprint, -file.fingerprint};
    std::array<std::int64_t, 3> most{};
    if (PMPI_Allreduce(own.data(), most.data(), 3, MPI_INT64_T, MPI_MAX, comm_) != MPI_SUCCESS) return false;
    const bool read = most[0] == 0;
    const bool same = most[1] == -most[2];
    if (read && same) return true;
    if (warns_for_all(here_)) {
        const std::string why = !file.problem.empty() ? file.problem
                                : !read               ? "other ranks could not read " + process.settings.rules
                                                      : "ranks read different rules from " + process.settings.rules;
        process.warn_once(why + "; the library's own algorithms are used");
    }
    return false;
}

template <typename Keep>
void Communicator::choose_rules(Keep keep) {
    may_replace_.reset();
    for (auto& rules : rules_) rules.clear();
    for (const Rule& rule : Process::get().rules.rules) {
        if (!keep(rule)) continue;
        const auto kind = static_cast<std::size_t>(find_collective(rule.collective) - collectives().data());
        rules_[kind].push_back(&rule);
        if (rule.algorithm != nullptr) may_replace_.set(kind);
    }
}

bool Communicator::create_private_comm() {
    const ReturnedErrors returned(comm_);
    MPI_Group group = MPI_GROUP_NULL;
    PMPI_Comm_group(comm_, &group);
    // Not a duplicate: that would copy attributes, and call the program's functions for it.
    int made = PMPI_Comm_create(comm_, group, &private_comm_) == MPI_SUCCESS ? 1 : 0;
    PMPI_Group_free(&group);
    int made_everywhere = 0;
    PMPI_Allreduce(&made, &made_everywhere, 1, MPI_INT, MPI_MIN, comm_);
    if (made_everywhere == 0) return false;
    PMPI_Comm_set_errhandler(private_comm_, MPI_ERRORS_RETURN);
    return true;
}

void Communicator::prepare() {
    if (prepared() || failed_) return;
    const SetupTimer clock("communicator", here_.ranks);
    failed_ = !create_private_comm();
    if (failed_) {
        may_replace_.reset();
        return;
    }
    const Topology& topology = topology_.emplace(discover_topology(private_comm_, Process::get().settings.group));
    choose_rules([&](const Rule& rule) { return matches(topology, rule); });
    if (may_replace_.none()) PMPI_Comm_free(&private_comm_);
}

bool Communicator::matches(const Topology& topology, const Rule& rule) const {
    return rule.ranks.contains(here_.ranks) && rule.nodes.contains(topology.nodes()) &&
           rule.per_node.contains(topology.most_ranks_on_a_node());
}

void Communicator::disable_shared_memory() {
    if (!topology_) return;
    choose_rules([&, &topology = *topology_](const Rule& rule) {
        return matches(topology, rule) && (rule.algorithm == nullptr || rule.algorithm->window == nullptr);
    });
}

}  // namespace timpani
