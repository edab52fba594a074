#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>

#include "collectives/collective.hpp"
#include "execute/elements.hpp"
#include "operations/datatype.hpp"
#include "operations/operation.hpp"

namespace timpani {

/// A row-major matrix of `rows` × `columns` elements.
struct Matrix {
    int rows;
    int columns;

    [[nodiscard]] std::int64_t elements() const { return static_cast<std::int64_t>(rows) * columns; }

    /// Row lengths of the matrix and its transpose, and of the matrix and its copy.
    [[nodiscard]] RowLengths transposed_rows() const { return {columns, rows}; }
    [[nodiscard]] RowLengths copied_rows() const { return {columns, columns}; }

    /// The values of the matrix, and of its transpose, in memory order.
    [[nodiscard]] static std::uint64_t value(std::int64_t i) { return moved_value(0, i); }
    void fill_transposed(Values values, std::int64_t first) const {
        fill(values, first, [this](std::int64_t i) { return value(i % rows * columns + i / rows); });
    }
};

/// The matrix in the operation's buffer. If its parameter `rows` is 0, it is the largest divisor of the number of
/// elements that is at most its square root. Throws NotApplicable if the elements don't fill such a matrix.
Matrix matrix_of(const OperationSpec& spec);

/// An operation on a matrix that is sent whole.
class MatrixOperation : public Operation {
  public:
    explicit MatrixOperation(const OperationSpec& spec)
        : Operation(spec.datatype, spec.comm, spec.controls), matrix_(matrix_of(spec)) {}

    [[nodiscard]] std::int64_t send_elements() const override { return rank() == 0 ? matrix_.elements() : 0; }
    void sent(std::int64_t first, Values values) const override { fill(values, first, Matrix::value); }
    [[nodiscard]] RowLengths row_lengths() const override { return matrix_.transposed_rows(); }

  protected:
    [[nodiscard]] const Matrix& matrix() const { return matrix_; }

  private:
    Matrix matrix_;
};

/// Writes the transpose of `matrix`, whose rows start every `row_length` elements, to contiguous memory.
void transpose_by_hand(const std::byte* from, std::int64_t row_length, Matrix matrix, std::size_t element_bytes,
                       std::byte* to);

/// In a simulation, advances time by what reading that many elements of columns takes. Memory moves whole cache lines,
/// and a column's next element is in another line. Caches that keep lines for the next column are not simulated.
void pass_time_of_columns(std::int64_t elements);

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
