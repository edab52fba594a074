#pragma once

#include <memory>
#include <string>

#include "composed/composed_collective.hpp"
#include "operations/collective/collective_call.hpp"

namespace timpani {

/// Throws NotApplicable if ranks are on fewer nodes, or in fewer groups.
void require_extent(const Topology& topology, int min_nodes, int min_groups);

/// A call of a collective that is composed of the library's collectives, on communicators of its levels.
class ComposedCall : public CollectiveCall {
  public:
    /// `args` has a topology. `named` is a row of operations.def with its parameters, as in
    /// `two_level:setup_each_call=1`; the argument `setup_each_call` overrides that parameter. Throws
    /// std::runtime_error if no such row exists. Throws NotApplicable if the ranks are on too few nodes or in too few
    /// groups, or if counts exceed int.
    ComposedCall(const Collective& collective, const CollectiveArguments& args, const Datatype& datatype, MPI_Comm comm,
                 const std::string& named, bool setup_each_call);

    void pass_in_place() override { throw NotApplicable("composed collectives are not measured in place"); }

  protected:
    int run(void* send, void* receive) override { return (*composed_)(send, receive); }

  private:
    std::unique_ptr<ComposedCollective> composed_;
};

}  // namespace timpani
