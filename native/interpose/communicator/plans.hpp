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

/// What an execution depends on within one communicator. Only predefined types and operators: MPI may reuse the handle
/// of a freed one.
struct PlanKey {
    const Rule* rule;
    std::int64_t count;
    int root;
    MPI_Datatype type;
    MPI_Op op;
    std::vector<std::int64_t> counts;  // of a v-collective, as CollectiveArguments has them

    friend bool operator==(const PlanKey&, const PlanKey&) = default;
};

/// The most recent executions. All ranks together make and free executions that share memory on a node, so other
/// executions must not replace them: their keys are the same on all ranks, while the others' counts may differ.
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
        if (plans.size() == kMaxExecutions) plans.pop_back();
        return plans.emplace_front(std::move(key), std::move(execution)).second.get();
    }

    /// Frees the executions that share memory: collective.
    void clear_shared() { shared_.clear(); }

  private:
    using List = std::list<std::pair<PlanKey, std::unique_ptr<Execution>>>;  // most recent first

    List& list_of(const PlanKey& key) { return key.rule->algorithm->window == nullptr ? local_ : shared_; }

    static constexpr std::size_t kMaxExecutions = 16;  // a program's loop has few sizes; each keeps scratch of its size
    List local_;
    List shared_;
};

}  // namespace timpani
