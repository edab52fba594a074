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
#include "interpose/rules.hpp"

namespace timpani {

/// What an execution depends on within one communicator. Only predefined types and operators: the handle of a freed one
/// may be given to another.
struct PlanKey {
    const Rule* rule;
    std::int64_t count;
    int root;
    MPI_Datatype type;
    MPI_Op op;
    std::vector<std::int64_t> counts;  // of a v-collective, as Shape has them

    friend bool operator==(const PlanKey&, const PlanKey&) = default;
};

/// The executions used last, made once.
class Plans {
  public:
    /// The execution of `key`, or nullptr.
    Execution* find(const PlanKey& key) {
        const auto found = std::ranges::find(plans_, key, [](const auto& plan) -> const auto& { return plan.first; });
        if (found == plans_.end()) return nullptr;
        plans_.splice(plans_.begin(), plans_, found);
        return found->second.get();
    }

    Execution* keep(PlanKey key, std::unique_ptr<Execution> execution) {
        if (plans_.size() == kMost) plans_.pop_back();
        return plans_.emplace_front(std::move(key), std::move(execution)).second.get();
    }

  private:
    static constexpr std::size_t kMost = 16;  // a program's loop has few sizes; each keeps scratch of its size
    std::list<std::pair<PlanKey, std::unique_ptr<Execution>>> plans_;  // the last used first
};

}  // namespace timpani
