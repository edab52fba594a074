#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "collectives/collective.hpp"
#include "execute/execution.hpp"
#include "operations/collective/library_call.hpp"
#include "operations/operation.hpp"

namespace timpani {

/// One collective call, of the MPI library or of an algorithm of ours.
class CollectiveCall : public Operation {
  public:
    /// `count` as CollectiveArguments counts it. Throws NotApplicable where it is too large for MPI's integer counts.
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

  private:
    const Collective& collective_;
    CollectiveArguments args_;
    LibraryArguments arguments_;
    LibraryCall library_call_;
    std::unique_ptr<Execution> execution_;  // of ours; else the library is called
};

}  // namespace timpani
