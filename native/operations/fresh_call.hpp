#pragma once

#include <string>

#include "operations/collective_call.hpp"
#include "schedule/bind.hpp"

namespace timpani {

/// A call of an algorithm of ours that builds first, each time, what is otherwise built once for a communicator: one of
/// its own, the topology and the plan.
class FreshCall : public CollectiveCall {
  public:
    /// As CollectiveCall's; `shape` has a topology, whose groups are taken for granted.
    FreshCall(const Collective& collective, const Shape& shape, const Datatype& datatype, MPI_Comm comm,
              const std::string& algorithm);

    int operator()(std::byte* send, std::byte* receive) override;

  private:
    BoundAlgorithm bound_;
    std::string group_;
};

}  // namespace timpani
