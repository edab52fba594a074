#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "interpose/intercepted_call.hpp"

namespace timpani {

/// Whether elements of `type` are the bytes that MPI would pack, in that order and without gaps: a predefined type
/// without padding, or a contiguous one or a duplicate of such.
bool is_bytes(MPI_Datatype type);

/// One buffer of a call as packed bytes, block after block in rank order, so that ranks that describe the same data by
/// different types agree. Memory that lies like that already is used in place; else there is a staging buffer.
class PackedBuffer {
  public:
    /// No buffer: nothing is sent from it or received into it.
    PackedBuffer() = default;
    /// `blocks` blocks, of the sizes that the arrays of `buffer` tell, or all of its count. MPI packs for `comm`.
    PackedBuffer(const BufferArguments& buffer, int blocks, MPI_Comm comm);

    [[nodiscard]] std::byte* bytes() const { return bytes_; }
    /// Packs all blocks, or one of them. MPI's error code.
    int pack();
    int pack(int block);
    /// Unpacks all blocks. MPI's error code.
    int unpack();

  private:
    struct Block {
        std::byte* memory;
        int elements;
        std::int64_t offset;  // in the packed bytes
        std::int64_t bytes;
    };
    int copy(const Block& block, bool pack);

    MPI_Comm comm_ = MPI_COMM_NULL;
    MPI_Datatype type_ = MPI_DATATYPE_NULL;
    bool is_bytes_ = true;
    std::vector<Block> blocks_;  // empty: the memory is used in place
    std::unique_ptr<std::byte[]> staging_;
    std::byte* bytes_ = nullptr;
};

}  // namespace timpani
