#pragma once

#include <mpi.h>

#include <utility>

namespace timpani {

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

}  // namespace timpani
