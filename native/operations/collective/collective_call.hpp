#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "collectives/collective.hpp"
#include "operations/collective/library_call.hpp"
#include "operations/operation.hpp"

namespace timpani {

/// One collective call, of the MPI library or of an algorithm of ours.
class CollectiveCall : public Operation {
  public:
    /// `count` as CollectiveArguments counts it. Throws NotApplicable where the library has no call for counts that
    /// large.
    CollectiveCall(const Collective& collective, const CollectiveArguments& args, const Datatype& datatype,
                   MPI_Comm comm, Controls controls = {});

    /// `algorithm` is of ours: its name and parameters, `knomial:radix=4`. Throws std::runtime_error where there is no
    /// such algorithm, or it does not apply here.
    CollectiveCall(const Collective& collective, const CollectiveArguments& args, const Datatype& datatype,
                   MPI_Comm comm, const std::string& algorithm);

    int operator()(std::byte* send, std::byte* receive) override;

    [[nodiscard]] std::int64_t send_elements() const override { return collective_.send_elements(args_, rank()); }
    [[nodiscard]] std::int64_t receive_elements() const override { return collective_.receive_elements(args_, rank()); }
    void sent(std::int64_t first, Values values) const override;
    void expected(std::int64_t first, Values values) const override;

  protected:
    /// For operations that do the collective's work in their own way: `call` is called, or nothing where they override
    /// operator().
    CollectiveCall(const Collective& collective, const CollectiveArguments& args, const Datatype& datatype,
                   MPI_Comm comm, Controls controls, BoundLibraryCall call);

  private:
    const Collective& collective_;
    CollectiveArguments args_;
    BoundLibraryCall call_;
};

}  // namespace timpani
