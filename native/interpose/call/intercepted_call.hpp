#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "collectives/collective.hpp"

namespace timpani {

/// The collectives of operations.def that have entry points here.
enum class CollectiveKind : std::uint8_t {
#define COLLECTIVE(name, ...) name,
#include "collectives/operations.def"
};

inline constexpr std::array kCollectiveKinds{
#define COLLECTIVE(name, ...) CollectiveKind::name,
#include "collectives/operations.def"
};

inline const Collective& collective_of(CollectiveKind kind) { return collectives()[static_cast<std::size_t>(kind)]; }

/// One integer per rank, as MPI's functions take them: int, or 64 bits in functions with large counts.
class RankNumbers {
  public:
    constexpr RankNumbers() = default;
    template <typename Number>
    RankNumbers(const Number* numbers) : numbers_(numbers), wide_(sizeof(Number) == sizeof(std::int64_t)) {
        static_assert(sizeof(Number) == sizeof(int) || sizeof(Number) == sizeof(std::int64_t));
    }

    [[nodiscard]] bool given() const { return numbers_ != nullptr; }
    [[nodiscard]] std::int64_t operator[](int rank) const {
        if (!wide_) return static_cast<const int*>(numbers_)[rank];
        std::int64_t number = 0;  // MPI_Count and MPI_Aint are separate types with the same representation
        std::memcpy(&number, static_cast<const std::byte*>(numbers_) + sizeof number * static_cast<std::size_t>(rank),
                    sizeof number);
        return number;
    }

  private:
    const void* numbers_ = nullptr;
    bool wide_ = false;
};

/// How a call describes one of its buffers. `counts` and `displacements`, one per rank, are those of v-collectives, in
/// elements of `type`; else every block has `count` elements. A send buffer is only read.
struct BufferArguments {
    void* data = nullptr;
    std::int64_t count = 0;
    RankNumbers counts{};
    RankNumbers displacements{};
    MPI_Datatype type = MPI_DATATYPE_NULL;
};

/// One call as the program made it. A broadcast's buffer is its `receive`. A reduction's type and count are there too,
/// with its operand in `send.data`.
struct InterceptedCall {
    CollectiveKind kind = CollectiveKind::barrier;
    MPI_Comm comm = MPI_COMM_NULL;
    BufferArguments send{};
    BufferArguments receive{};
    MPI_Op op = MPI_OP_NULL;
    int root = 0;
    const void* site = nullptr;  // as `call_site`
};

}  // namespace timpani
