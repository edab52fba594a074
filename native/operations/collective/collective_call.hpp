#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "collectives/collective.hpp"
#include "operations/collective/library_call.hpp"
#include "operations/operation.hpp"

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

    int operator()(std::byte* send, std::byte* receive) override;

    [[nodiscard]] std::int64_t send_elements() const override { return collective_.send_elements(args_, rank()); }
    [[nodiscard]] std::int64_t receive_elements() const override { return collective_.receive_elements(args_, rank()); }
    void sent(std::int64_t first, Values values) const override;
    void expected(std::int64_t first, Values values) const override;

  protected:
    /// For operations that implement the collective differently. `call` is called, or nothing if they override
    /// operator().
    CollectiveCall(const Collective& collective, const CollectiveArguments& args, const Datatype& datatype,
                   MPI_Comm comm, Controls controls, BoundLibraryCall call);

  private:
    const Collective& collective_;
    CollectiveArguments args_;
    BoundLibraryCall call_;
};

}  // namespace timpani
