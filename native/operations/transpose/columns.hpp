#pragma once

#include <mpi.h>

#include "execute/derived_datatype.hpp"
#include "operations/transpose/matrix.hpp"

namespace timpani {

/// A column of the matrix. Its extent is one element, so the next column follows it.
inline DerivedDatatype one_column(const Matrix& matrix, const Datatype& element) {
    MPI_Datatype strided = MPI_DATATYPE_NULL;
    MPI_Type_vector(matrix.rows, 1, matrix.columns, element.mpi, &strided);
    const DerivedDatatype whole_extent(strided);
    MPI_Datatype column = MPI_DATATYPE_NULL;
    MPI_Type_create_resized(strided, 0, static_cast<MPI_Aint>(element.bytes), &column);
    return DerivedDatatype(column);
}

/// All columns, one after the other: the elements in the order of the transposed matrix.
inline DerivedDatatype all_columns(const Matrix& matrix, const Datatype& element) {
    const DerivedDatatype one = one_column(matrix, element);
    MPI_Datatype all = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(matrix.columns, one.get(), &all);
    return DerivedDatatype(all);
}

}  // namespace timpani
