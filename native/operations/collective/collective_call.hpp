#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "collectives/collective.hpp"
#include "composed/composed_collective.hpp"
#include "operations/collective/library_call.hpp"
#include "operations/operation.hpp"
#include "schedule/algorithm.hpp"

namespace timpani {

/// One collective call, by the MPI library or by a Timpani algorithm.
class CollectiveCall : public Operation {
  public:
    /// `count` as in CollectiveArguments. Throws NotApplicable if the library has no call for counts that large.
    CollectiveCall(const Collective& collective, const CollectiveArguments& args, const Datatype& datatype,
                   MPI_Comm comm, Controls controls = {});

    /// `algorithm` is the name and parameters of a Timpani algorithm, as in `knomial:radix=4`. Throws
    /// std::runtime_error if it doesn't exist or doesn't apply here.
    CollectiveCall(const Collective& collective, const CollectiveArguments& args, const Datatype& datatype,
                   MPI_Comm comm, const std::string& algorithm);

    /// Calls pass MPI_IN_PLACE on the ranks that MPI allows it on, and find their data in the other buffer. Call it
    /// before the buffers are prepared. Throws NotApplicable if the algorithm can't.
    virtual void pass_in_place();

    int operator()(std::byte* send, std::byte* receive) final;

    [[nodiscard]] std::int64_t send_elements() const override;
    [[nodiscard]] std::int64_t receive_elements() const override;
    void sent(std::int64_t first, Values values) const override;
    void expected(std::int64_t first, Values values) const override;
    void poison(std::int64_t first, Values values) const override;

  protected:
    /// For operations that implement the collective differently. `call` is called, or nothing if they override run.
    CollectiveCall(const Collective& collective, const CollectiveArguments& args, const Datatype& datatype,
                   MPI_Comm comm, Controls controls, BoundLibraryCall call);

    /// One call. One of the buffers may be MPI_IN_PLACE.
    virtual int run(void* send, void* receive) { return call_(send, receive); }

  private:
    /// The elements of the receive buffer that this rank contributes; none unless it passes MPI_IN_PLACE to send.
    [[nodiscard]] Part contributed() const;

    const Collective& collective_;
    CollectiveArguments args_;
    BoundLibraryCall call_;
    bool sends_in_place_ = false;
    bool receives_in_place_ = false;
};

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
