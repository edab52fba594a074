#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <vector>

#include "execute/program.hpp"

namespace timpani {

/// A program bound to a communicator, a datatype and an operator: calling it runs the algorithm once. Calls allocate
/// nothing. The communicator must carry no other messages of the same tag; ours are private duplicates.
class Execution {
  public:
    Execution(const Algorithm& algorithm, const Shape& shape, MPI_Comm comm, MPI_Datatype type, MPI_Op op);

    /// MPI's error code. `send` and `receive` as the collective's definition lays them out.
    int operator()(const std::byte* send, std::byte* receive);

  private:
    int run(const Instruction& instruction);
    [[nodiscard]] std::byte* at(const Region& region) const {
        return bases_[static_cast<std::size_t>(region.buffer)] + region.first * extent_;
    }
    void copy(const Region& from, const Region& to) const;

    Program program_;
    MPI_Comm comm_;
    MPI_Datatype type_;
    MPI_Op op_;
    MPI_Aint extent_ = 0;
    bool contiguous_ = false;
    std::vector<std::byte> scratch_;
    std::vector<MPI_Request> requests_;
    std::array<std::byte*, 3> bases_{};
};

}  // namespace timpani
