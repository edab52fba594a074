#pragma once

#include <mpi.h>

#include <utility>

#include "operations/datatype.hpp"

namespace timpani {

/// A datatype that is built from others and freed with this object.
class DerivedDatatype {
  public:
    /// One column of a row-major rows × columns matrix. Its extent is one element, so the next column follows it.
    static DerivedDatatype column(int rows, int columns, const Datatype& element) {
        MPI_Datatype strided = MPI_DATATYPE_NULL;
        MPI_Type_vector(rows, 1, columns, element.mpi, &strided);
        const DerivedDatatype whole_extent(strided);
        MPI_Datatype column = MPI_DATATYPE_NULL;
        MPI_Type_create_resized(strided, 0, static_cast<MPI_Aint>(element.bytes), &column);
        return DerivedDatatype(column);
    }

    /// All columns of the matrix, one after the other: its elements in the order of the transposed matrix.
    static DerivedDatatype columns(int rows, int columns, const Datatype& element) {
        const DerivedDatatype one = column(rows, columns, element);
        MPI_Datatype all = MPI_DATATYPE_NULL;
        MPI_Type_contiguous(columns, one.type_, &all);
        return DerivedDatatype(all);
    }

    ~DerivedDatatype() {
        if (type_ != MPI_DATATYPE_NULL) MPI_Type_free(&type_);
    }
    DerivedDatatype(DerivedDatatype&& other) noexcept : type_(std::exchange(other.type_, MPI_DATATYPE_NULL)) {}
    DerivedDatatype(const DerivedDatatype&) = delete;
    DerivedDatatype& operator=(const DerivedDatatype&) = delete;

    [[nodiscard]] MPI_Datatype get() const { return type_; }

  private:
    explicit DerivedDatatype(MPI_Datatype type) : type_(type) { MPI_Type_commit(&type_); }

    MPI_Datatype type_;
};

}  // namespace timpani
