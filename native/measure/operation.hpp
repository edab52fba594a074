#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "collectives/collective.hpp"
#include "execute/execution.hpp"
#include "measure/plan.hpp"

namespace timpani {

/// An element type that a study may ask for. `write` and `equals` convert the small whole numbers that buffers hold.
struct Datatype {
    MPI_Datatype mpi;
    std::size_t bytes;
    void (*write)(std::byte* at, std::uint64_t value);
    bool (*equals)(const std::byte* at, std::uint64_t value);
};

/// The datatype of that name; throws std::runtime_error for another.
const Datatype& find_datatype(const std::string& name);

/// One collective call, of the MPI library or of an algorithm of ours, ready to be made again and again.
class Operation {
  public:
    /// `count` as Shape counts it. Throws std::runtime_error where the collective is unknown or too large for MPI's
    /// integer counts. `controls` must hold (ScopedControls) while it is called, and only then.
    Operation(const Collective& collective, const Shape& shape, const Datatype& datatype, MPI_Comm comm,
              Controls controls = {});

    /// `algorithm` is of ours: its name and parameters, `knomial:radix=4`. Throws std::runtime_error where there is no
    /// such algorithm, or it does not apply here.
    Operation(const Collective& collective, const Shape& shape, const Datatype& datatype, MPI_Comm comm,
              const std::string& algorithm);

    /// MPI's error code; the communicator decides whether an error comes back at all.
    int operator()(std::byte* send, std::byte* receive) const { return call_(*this, send, receive); }

    [[nodiscard]] const Shape& shape() const { return shape_; }
    [[nodiscard]] const Collective& collective() const { return collective_; }
    [[nodiscard]] const Datatype& datatype() const { return datatype_; }
    [[nodiscard]] MPI_Comm comm() const { return comm_; }
    [[nodiscard]] const Controls& controls() const { return controls_; }

    using Call = int (*)(const Operation&, std::byte* send, std::byte* receive);
    struct Calls;

  private:
    const Collective& collective_;
    Shape shape_;
    const Datatype& datatype_;
    MPI_Comm comm_;
    Controls controls_;
    MPI_Datatype type_;
    int count_ = 0;
    int rank_ = 0;
    std::vector<int> counts_;         // per rank, for the v-collectives and reduce_scatter
    std::vector<int> displacements_;  //
    std::unique_ptr<Execution> execution_;
    Call call_;
};

}  // namespace timpani
