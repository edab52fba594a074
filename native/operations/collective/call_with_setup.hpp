#pragma once

#include <string>

#include "operations/collective/collective_call.hpp"
#include "schedule/bind.hpp"

namespace timpani {

/// A call of a Timpani algorithm that includes its setup, which normally happens once per communicator: a private
/// communicator, the topology and the plan.
class CallWithSetup : public CollectiveCall {
  public:
    /// Arguments as in CollectiveCall. `args` has a topology; only its groups are used, and the nodes are discovered
    /// again.
    CallWithSetup(const Collective& collective, const CollectiveArguments& args, const Datatype& datatype,
                  MPI_Comm comm, const std::string& algorithm);

  protected:
    int run(void* send, void* receive) override;

  private:
    BoundAlgorithm bound_;
    std::string group_;
};

}  // namespace timpani
