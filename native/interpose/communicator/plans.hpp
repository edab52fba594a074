#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <utility>
#include <vector>

#include "execute/execution.hpp"
#include "interpose/rules/rules.hpp"

namespace timpani {

/// What an execution depends on within one communicator. Only predefined types and operators: the handle of a freed one
/// may be given to another.
struct PlanKey {
    const Rule* rule;
    std::int64_t count;
    int root;
    MPI_Datatype type;
    MPI_Op op;
    std::vector<std::int64_t> counts;  // of a v-collective, as CollectiveArguments has them

    friend bool operator==(const PlanKey&, const PlanKey&) = default;
};

/// The executions used last, made once. Those that share memory on a node are made and ended by all ranks together, so
/// that no other may drive one out: keys of those are the same on all ranks, others' counts need not be.
class Plans {
  public:
    /// The execution of `key`, or nullptr.
    Execution* find(const PlanKey& key) {
        List& plans = list_of(key);
        const auto found = std::ranges::find(plans, key, [](const auto& plan) -> const auto& { return plan.first; });
        if (found == plans.end()) return nullptr;
        plans.splice(plans.begin(), plans, found);
        return found->second.get();
    }

    Execution* insert(PlanKey key, std::unique_ptr<Execution> execution) {
        List& plans = list_of(key);
        if (plans.size() == kMost) plans.pop_back();
        return plans.emplace_front(std::move(key), std::move(execution)).second.get();
    }

    /// Frees those that share memory: collective.
    void clear_shared() { shared_.clear(); }

  private:
    using List = std::list<std::pair<PlanKey, std::unique_ptr<Execution>>>;  // the last used first

    List& list_of(const PlanKey& key) { return key.rule->algorithm->window == nullptr ? local_ : shared_; }

    static constexpr std::size_t kMost = 16;  // a program's loop has few sizes; each keeps scratch of its size
    List local_;
    List shared_;
};

}  // namespace timpani
