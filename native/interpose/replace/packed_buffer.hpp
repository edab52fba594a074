#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "interpose/call/intercepted_call.hpp"

namespace timpani {

/// Whether elements of `type` in memory are the bytes that MPI would pack, in that order and without gaps: a predefined
/// type without padding, or a contiguous type or duplicate of one.
bool is_bytes(MPI_Datatype type);

/// Describes elements that are given by MPI_BOTTOM and absolute addresses as elements from `address` on: MPICH packs
/// nothing from MPI_BOTTOM.
class AnchoredType {
  public:
    AnchoredType(MPI_Datatype absolute, const void* address);
    ~AnchoredType();
    AnchoredType(const AnchoredType&) = delete;
    AnchoredType& operator=(const AnchoredType&) = delete;
    [[nodiscard]] MPI_Datatype get() const { return type_; }

  private:
    MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

/// One buffer of a call as packed bytes, block after block in rank order. So ranks that describe the same data by
/// different types agree. Memory with that layout is used in place; else there is a staging buffer.
class PackedBuffer {
  public:
    /// No buffer: the rank neither sends from it nor receives into it.
    PackedBuffer() = default;
    /// `blocks` blocks, whose sizes are in the arrays of `buffer`, or are all its count. MPI packs for `comm`.
    PackedBuffer(const BufferArguments& buffer, int blocks, MPI_Comm comm);

    [[nodiscard]] std::byte* bytes() const { return bytes_; }
    /// Uses a staging buffer from now on, which `pack` copies to: for a buffer that is also received into.
    void detach();
    /// Packs all blocks, or one of them. Returns MPI's error code.
    int pack() { return copy(blocks_, true); }
    int pack(int block) { return copy(std::span(blocks_).subspan(static_cast<std::size_t>(block), 1), true); }
    /// Unpacks all blocks. Returns MPI's error code.
    int unpack() { return copy(blocks_, false); }

  private:
    struct Block {
        std::byte* memory;
        std::int64_t elements;
        std::int64_t offset;  // in the packed bytes
        std::int64_t bytes;
    };
    int copy(const Block& block, bool pack);
    int copy(std::span<const Block> blocks, bool pack);

    void stage();

    MPI_Comm comm_ = MPI_COMM_NULL;
    MPI_Datatype type_ = MPI_DATATYPE_NULL;
    std::optional<AnchoredType> anchored_;
    bool is_bytes_ = true;
    std::vector<Block> blocks_;
    std::unique_ptr<std::byte[]> staging_;  // nullptr: the memory is used in place
    std::byte* bytes_ = nullptr;
};

}  // namespace timpani
