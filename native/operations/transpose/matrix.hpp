#pragma once

#include <cstddef>
#include <cstdint>

#include "collectives/collective.hpp"
#include "operations/register_operation.hpp"
#include "operations/values.hpp"

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

}  // namespace timpani
