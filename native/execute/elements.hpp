#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace timpani {

/// A datatype's layout in memory: the distance between elements, and the bytes that each touches.
struct ElementLayout {
    MPI_Aint extent = 0;
    MPI_Aint true_lower = 0;
    MPI_Aint true_extent = 0;
    int size = 0;
    bool contiguous = false;

    explicit ElementLayout(MPI_Datatype type) {
        MPI_Aint lower = 0;
        PMPI_Type_get_extent(type, &lower, &extent);
        PMPI_Type_get_true_extent(type, &true_lower, &true_extent);
        PMPI_Type_size(type, &size);
        contiguous = lower == 0 && true_lower == 0 && extent == size && true_extent == size;
    }

    /// From the first to the last byte that `count` ≥ 1 elements touch.
    [[nodiscard]] std::int64_t bytes(std::int64_t count) const { return (count - 1) * extent + true_extent; }
};

/// Memory for elements, each at its extent.
class ElementBuffer {
  public:
    void allocate(std::int64_t count, const ElementLayout& layout) {
        if (count == 0) return;
        bytes_.resize(static_cast<std::size_t>(layout.bytes(count)));
        base_ = bytes_.data() - layout.true_lower;
    }
    /// The address of the first element for MPI. The buffer may start before or after it.
    [[nodiscard]] std::byte* base() const { return base_; }

  private:
    std::vector<std::byte> bytes_;
    std::byte* base_ = nullptr;
};

/// A datatype that is built from others. It is committed, and freed with this object.
class DerivedDatatype {
  public:
    explicit DerivedDatatype(MPI_Datatype type) : type_(type) { PMPI_Type_commit(&type_); }
    ~DerivedDatatype() {
        if (type_ != MPI_DATATYPE_NULL) PMPI_Type_free(&type_);
    }
    DerivedDatatype(DerivedDatatype&& other) noexcept : type_(std::exchange(other.type_, MPI_DATATYPE_NULL)) {}
    DerivedDatatype(const DerivedDatatype&) = delete;
    DerivedDatatype& operator=(const DerivedDatatype&) = delete;

    [[nodiscard]] MPI_Datatype get() const { return type_; }

  private:
    MPI_Datatype type_;
};

/// Whether the operator commutes; true for MPI_OP_NULL, since nothing is reduced.
inline bool commutes(MPI_Op op) {
    int yes = 1;
    if (op != MPI_OP_NULL) PMPI_Op_commutative(op, &yes);
    return yes != 0;
}

}  // namespace timpani
