#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

// Datatypes and operators to call collectives with. Each has a property that an algorithm may treat wrongly.
namespace timpani::test {

struct ElementKind {
    std::string_view name;
    MPI_Datatype type;
    MPI_Op op;
    bool rounds = false;  // results depend on the order of additions
};

constexpr std::array<MPI_Aint, 2> kSideBySide{0, 4};
constexpr std::array<MPI_Aint, 2> kWithGaps{0, 12};  // bytes; gaps between and after
constexpr MPI_Aint kGappedExtent = 24;

using Pair = std::array<std::uint32_t, 2>;

/// The map of `left`, then that of `right`: x → a x + b modulo 2³². It is associative, and the order of operands
/// matters.
inline Pair one_after_the_other(const Pair& left, const Pair& right) {
    return {left[0] * right[0], left[1] * right[0] + right[1]};
}
inline Pair differing_bits(const Pair& left, const Pair& right) { return {left[0] ^ right[0], left[1] ^ right[1]}; }

template <Pair (*join)(const Pair&, const Pair&), const std::array<MPI_Aint, 2>& places, MPI_Aint extent>
void join_pairs(void* left, void* right, int* count, MPI_Datatype*) {
    auto* from = static_cast<std::byte*>(left);
    auto* to = static_cast<std::byte*>(right);
    const auto read = [](const std::byte* at) {
        Pair pair;
        for (std::size_t i = 0; i < 2; ++i) std::memcpy(&pair.at(i), at + places.at(i), sizeof pair[0]);
        return pair;
    };
    for (int i = 0; i < *count; ++i, from += extent, to += extent) {
        const Pair joined = join(read(from), read(to));
        for (std::size_t k = 0; k < 2; ++k) std::memcpy(to + places.at(k), &joined.at(k), sizeof joined[0]);
    }
}

class ElementKinds {
  public:
    ElementKinds() {
        MPI_Type_contiguous(2, MPI_UINT32_T, &pair_);
        MPI_Type_commit(&pair_);
        gapped_ = numbers_at(kWithGaps, 0);
        // Only moved: with a type whose first byte is not at 0, Open MPI 4.1.4's ring allreduce writes outside the
        // memory that it has allocated.
        before_ = numbers_at({-4, 8}, -8);
        MPI_Op_create(join_pairs<one_after_the_other, kSideBySide, 8>, 0, &maps_);
        MPI_Op_create(join_pairs<one_after_the_other, kWithGaps, kGappedExtent>, 0, &gapped_maps_);
        MPI_Op_create(join_pairs<differing_bits, kWithGaps, kGappedExtent>, 1, &gapped_bits_);
    }
    ~ElementKinds() {
        for (MPI_Op* op : {&maps_, &gapped_maps_, &gapped_bits_}) MPI_Op_free(op);
        for (MPI_Datatype* type : {&pair_, &gapped_, &before_}) MPI_Type_free(type);
    }
    ElementKinds(const ElementKinds&) = delete;
    ElementKinds& operator=(const ElementKinds&) = delete;

    [[nodiscard]] std::vector<ElementKind> all(bool reduces) const {
        if (!reduces) {
            return {{"uint32", MPI_UINT32_T, MPI_OP_NULL},
                    with_gaps(reduces),
                    {"before its address", before_, MPI_OP_NULL}};
        }
        return {{"uint32 sum", MPI_UINT32_T, MPI_SUM},
                {"uint64 max", MPI_UINT64_T, MPI_MAX},
                {"uint32 xor", MPI_UINT32_T, MPI_BXOR},
                {"float sum", MPI_FLOAT, MPI_SUM, true},
                {"maps, in order", pair_, maps_},
                {"maps with gaps, in order", gapped_, gapped_maps_},
                with_gaps(reduces)};
    }

    /// The most demanding one.
    [[nodiscard]] ElementKind with_gaps(bool reduces) const {
        return reduces ? ElementKind{"xor with gaps", gapped_, gapped_bits_}
                       : ElementKind{"with gaps", gapped_, MPI_OP_NULL};
    }

  private:
    /// Two numbers at `places`, with lower bound `lower`; all in bytes.
    static MPI_Datatype numbers_at(const std::array<MPI_Aint, 2>& places, MPI_Aint lower) {
        constexpr std::array<int, 2> lengths{1, 1};
        const std::array<MPI_Datatype, 2> types{MPI_UINT32_T, MPI_UINT32_T};
        MPI_Datatype tight = MPI_DATATYPE_NULL;
        MPI_Datatype resized = MPI_DATATYPE_NULL;
        MPI_Type_create_struct(2, lengths.data(), places.data(), types.data(), &tight);
        MPI_Type_create_resized(tight, lower, kGappedExtent, &resized);
        MPI_Type_commit(&resized);
        MPI_Type_free(&tight);
        return resized;
    }

    MPI_Datatype pair_ = MPI_DATATYPE_NULL;
    MPI_Datatype gapped_ = MPI_DATATYPE_NULL;
    MPI_Datatype before_ = MPI_DATATYPE_NULL;
    MPI_Op maps_ = MPI_OP_NULL;
    MPI_Op gapped_maps_ = MPI_OP_NULL;
    MPI_Op gapped_bits_ = MPI_OP_NULL;
};

}  // namespace timpani::test
