#pragma once

#include <memory>
#include <string>

#include "composed/composed_collective.hpp"
#include "operations/collective/collective_call.hpp"

namespace timpani {

/// Throws NotApplicable where ranks are on fewer nodes, or in fewer groups.
void require_extent(const Topology& topology, int min_nodes, int min_groups);

/// A call of a collective that is composed of the library's own, on communicators of its levels.
class ComposedCall : public CollectiveCall {
  public:
    /// `args` has a topology; `named` is a row of operations.def with its parameters: `two_level:setup_each_call=1`,
    /// and `setup_each_call` sets that parameter whatever is named. Throws std::runtime_error where there is no such
    /// thing, NotApplicable where the ranks are on too few nodes or in too few groups for it, or counts
    /// exceed int.
    ComposedCall(const Collective& collective, const CollectiveArguments& args, const Datatype& datatype, MPI_Comm comm,
                 const std::string& named, bool setup_each_call);

    int operator()(std::byte* send, std::byte* receive) override { return (*composed_)(send, receive); }

  private:
    std::unique_ptr<ComposedCollective> composed_;
};

}  // namespace timpani
