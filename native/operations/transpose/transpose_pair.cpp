// Transposes a matrix in rank 0's memory into rank 1's, in the ways that a program can use, and sends the same bytes
// untransposed for comparison.

#include "operations/transpose/matrix.hpp"

namespace timpani {

namespace {

class TransposePair : public MatrixOperation {
  public:
    explicit TransposePair(const OperationSpec& spec) : MatrixOperation(spec) {
        if (ranks() < 2) throw NotApplicable("a transpose between two ranks needs two");
    }

    int operator()(std::byte* send, std::byte* receive) override {
        if (rank() == 0) return send_matrix(send);
        if (rank() == 1) return receive_matrix(receive);
        return MPI_SUCCESS;
    }

    [[nodiscard]] Role role(int rank) const override { return rank < 2 ? Role::timed : Role::idle; }
    [[nodiscard]] std::int64_t receive_elements() const override { return rank() == 1 ? matrix().elements() : 0; }
    void expected(std::int64_t first, Values values) const override { matrix().fill_transposed(values, first); }

  protected:
    virtual int send_matrix(const std::byte* from) = 0;
    virtual int receive_matrix(std::byte* into) {
        return receive_from_peer(into, static_cast<int>(matrix().elements()));
    }

    int send_to_peer(const std::byte* from, int count, MPI_Datatype type) const {
        return MPI_Send(from, count, type, 1, kMessageTag, comm());
    }
    int receive_from_peer(std::byte* into, int count) const {
        return MPI_Recv(into, count, datatype().mpi, 0, kMessageTag, comm(), MPI_STATUS_IGNORE);
    }
};

/// A message for each column, described by a datatype, received as a row.
class ColumnByColumn : public TransposePair {
  public:
    explicit ColumnByColumn(const OperationSpec& spec)
        : TransposePair(spec), column_(one_column(matrix(), datatype())) {}

  protected:
    int send_matrix(const std::byte* from) override {
        int error = MPI_SUCCESS;
        for (int i = 0; i < matrix().columns; ++i, from += datatype().bytes) {
            pass_time_of_columns(matrix().rows);
            error |= send_to_peer(from, 1, column_.get());
        }
        return error;
    }
    int receive_matrix(std::byte* into) override {
        const auto row_bytes = static_cast<std::size_t>(matrix().rows) * datatype().bytes;
        int error = MPI_SUCCESS;
        for (int i = 0; i < matrix().columns; ++i, into += row_bytes) error |= receive_from_peer(into, matrix().rows);
        return error;
    }

  private:
    DerivedDatatype column_;
};

/// One message, all columns described by one datatype.
class NestedDatatype : public TransposePair {
  public:
    explicit NestedDatatype(const OperationSpec& spec)
        : TransposePair(spec), columns_(all_columns(matrix(), datatype())) {}

  protected:
    int send_matrix(const std::byte* from) override {
        pass_time_of_columns(matrix().elements());
        return send_to_peer(from, 1, columns_.get());
    }

  private:
    DerivedDatatype columns_;
};

/// One message of elements that the program itself has reordered.
class Packed : public TransposePair {
  public:
    explicit Packed(const OperationSpec& spec)
        : TransposePair(spec), packed_(static_cast<std::size_t>(send_elements()) * datatype().bytes) {}

  protected:
    int send_matrix(const std::byte* from) override {
        transpose_by_hand(from, matrix().columns, matrix(), datatype().bytes, packed_.data());
        return send_to_peer(packed_.data(), static_cast<int>(matrix().elements()), datatype().mpi);
    }

  private:
    std::vector<std::byte> packed_;
};

/// The matrix as it is, not transposed.
class PlainMessage : public TransposePair {
  public:
    using TransposePair::TransposePair;

    void expected(std::int64_t first, Values values) const override { fill(values, first, Matrix::value); }
    [[nodiscard]] RowLengths row_lengths() const override { return matrix().copied_rows(); }

  protected:
    int send_matrix(const std::byte* from) override {
        return send_to_peer(from, static_cast<int>(matrix().elements()), datatype().mpi);
    }
};

const RegisterOperation transpose_column_by_column{"transpose", "column_by_column", make<ColumnByColumn>};
const RegisterOperation transpose_nested_datatype{"transpose", "nested_datatype", make<NestedDatatype>};
const RegisterOperation transpose_packed{"transpose", "packed", make<Packed>};
const RegisterOperation transpose_plain_message{"transpose", "plain_message", make<PlainMessage>};

}  // namespace

}  // namespace timpani
