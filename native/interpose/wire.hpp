#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "interpose/call.hpp"

namespace timpani {

/// Whether elements of `type` are the bytes that MPI would pack, in that order and without gaps: a predefined type
/// without padding, or a contiguous one or a duplicate of such.
bool is_bytes(MPI_Datatype type);

/// One buffer of a call as its bytes lie on the wire: block after block in rank order. Memory that is like that already
/// is used as it is; anything else is packed aside, so that ranks that describe the same data by different types agree.
class Wire {
  public:
    /// No buffer: nothing is sent from it or received into it.
    Wire() = default;
    /// `blocks` of `side`, told by its arrays or all of its count. `comm` is told to MPI's packing.
    Wire(const Side& side, int blocks, MPI_Comm comm);

    [[nodiscard]] std::byte* bytes() const { return bytes_; }
    /// Packs all blocks, or one of them. MPI's error code.
    int fill();
    int fill(int block);
    /// Unpacks all blocks. MPI's error code.
    int empty();

  private:
    struct Piece {
        std::byte* memory;
        int elements;
        std::int64_t first;  // byte on the wire
        std::int64_t bytes;
    };
    int move(const Piece& piece, bool pack);

    MPI_Comm comm_ = MPI_COMM_NULL;
    MPI_Datatype type_ = MPI_DATATYPE_NULL;
    bool plain_ = true;
    std::vector<Piece> pieces_;  // empty: the memory is used as it is
    std::unique_ptr<std::byte[]> aside_;
    std::byte* bytes_ = nullptr;
};

}  // namespace timpani
