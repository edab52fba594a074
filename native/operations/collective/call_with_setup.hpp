#pragma once

#include <string>

#include "operations/collective/collective_call.hpp"
#include "schedule/bind.hpp"

namespace timpani {

/// A call of an algorithm of ours that first builds what is otherwise built once for a communicator: a private one, the
/// topology and the plan.
class CallWithSetup : public CollectiveCall {
  public:
    /// As CollectiveCall's; `args` has a topology, of which the groups are used, the nodes are found anew.
    CallWithSetup(const Collective& collective, const CollectiveArguments& args, const Datatype& datatype,
                  MPI_Comm comm, const std::string& algorithm);

    int operator()(std::byte* send, std::byte* receive) override;

  private:
    BoundAlgorithm bound_;
    std::string group_;
};

}  // namespace timpani
