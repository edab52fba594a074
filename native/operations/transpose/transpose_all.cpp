// Transposes a matrix that is distributed by rows over all ranks into one distributed the same way. Each rank
// transposes its blocks, runs an all-to-all, and joins the rows that arrived in parts. All of it is timed.

#include <cstring>

#include "collectives/collective.hpp"
#include "execute/node.hpp"
#include "operations/transpose/matrix.hpp"

namespace timpani {

namespace {

class TransposeAll : public Operation {
  public:
    explicit TransposeAll(const OperationSpec& spec)
        : Operation(spec.datatype, spec.comm, spec.controls),
          matrix_(matrix_of(spec)),
          rows_(rows_of(rank())),
          columns_(columns_of(rank())),
          outgoing_(static_cast<std::size_t>(rows_.count * matrix_.columns) * datatype().bytes),
          incoming_(static_cast<std::size_t>(columns_.count * matrix_.rows) * datatype().bytes) {}

    int operator()(std::byte* send, std::byte* receive) override {
        transpose_blocks(send);
        const int error = exchange(outgoing_.data(), incoming_.data());
        join_rows(receive);
        return error;
    }

    [[nodiscard]] std::int64_t send_elements() const override { return rows_.count * matrix_.columns; }
    [[nodiscard]] std::int64_t receive_elements() const override { return columns_.count * matrix_.rows; }
    void sent(std::int64_t first, Values values) const override {
        fill(values, rows_.first * matrix_.columns + first, Matrix::value);
    }
    void expected(std::int64_t first, Values values) const override {
        matrix_.fill_transposed(values, columns_.first * matrix_.rows + first);
    }
    [[nodiscard]] RowLengths row_lengths() const override { return matrix_.transposed_rows(); }

  protected:
    virtual int exchange(const std::byte* outgoing, std::byte* incoming) = 0;

    [[nodiscard]] const Matrix& matrix() const { return matrix_; }
    [[nodiscard]] Part rows_of(int rank) const { return part_of(matrix_.rows, ranks(), rank); }
    [[nodiscard]] Part columns_of(int rank) const { return part_of(matrix_.columns, ranks(), rank); }
    [[nodiscard]] const Part& rows() const { return rows_; }
    [[nodiscard]] const Part& columns() const { return columns_; }

  private:
    /// The columns that will be rows of another rank lie in one block, in the order of those rows.
    void transpose_blocks(const std::byte* from) {
        const auto bytes = datatype().bytes;
        for (int rank = 0; rank < ranks(); ++rank) {
            const Part block = columns_of(rank);
            transpose_by_hand(from + static_cast<std::size_t>(block.first) * bytes, matrix_.columns,
                              {static_cast<int>(rows_.count), static_cast<int>(block.count)}, bytes,
                              outgoing_.data() + static_cast<std::size_t>(block.first * rows_.count) * bytes);
        }
    }

    /// Each other rank's block has a part of each of this rank's new rows.
    void join_rows(std::byte* into) const {
        const auto bytes = datatype().bytes;
        const std::byte* from = incoming_.data();
        pass_time_of_copying(static_cast<std::int64_t>(incoming_.size()));
        for (int rank = 0; rank < ranks(); ++rank) {
            const Part part = rows_of(rank);
            const auto part_bytes = static_cast<std::size_t>(part.count) * bytes;
            std::byte* to = into + static_cast<std::size_t>(part.first) * bytes;
            for (std::int64_t row = 0; row < columns_.count; ++row) {
                std::memcpy(to, from, part_bytes);
                from += part_bytes;
                to += static_cast<std::size_t>(matrix_.rows) * bytes;
            }
        }
    }

    Matrix matrix_;
    Part rows_;     // of the matrix that this rank sends
    Part columns_;  // columns that it will hold as rows
    std::vector<std::byte> outgoing_;
    std::vector<std::byte> incoming_;
};

/// Only where all blocks are equal.
class TransposeAlltoall : public TransposeAll {
  public:
    explicit TransposeAlltoall(const OperationSpec& spec) : TransposeAll(spec) {
        if (matrix().rows % ranks() != 0 || matrix().columns % ranks() != 0) {
            throw NotApplicable("alltoall needs equal blocks, and " + std::to_string(ranks()) +
                                " ranks don't divide both sides of " + std::to_string(matrix().rows) + " x " +
                                std::to_string(matrix().columns));
        }
    }

  protected:
    int exchange(const std::byte* outgoing, std::byte* incoming) override {
        const int count = static_cast<int>(rows().count * columns().count);
        return MPI_Alltoall(outgoing, count, datatype().mpi, incoming, count, datatype().mpi, comm());
    }
};

class TransposeAlltoallv : public TransposeAll {
  public:
    explicit TransposeAlltoallv(const OperationSpec& spec) : TransposeAll(spec) {
        for (int rank = 0; rank < ranks(); ++rank) {
            const Part to = columns_of(rank);
            const Part from = rows_of(rank);
            send_counts_.push_back(static_cast<int>(to.count * rows().count));
            send_starts_.push_back(static_cast<int>(to.first * rows().count));
            receive_counts_.push_back(static_cast<int>(from.count * columns().count));
            receive_starts_.push_back(static_cast<int>(from.first * columns().count));
        }
    }

  protected:
    int exchange(const std::byte* outgoing, std::byte* incoming) override {
        return MPI_Alltoallv(outgoing, send_counts_.data(), send_starts_.data(), datatype().mpi, incoming,
                             receive_counts_.data(), receive_starts_.data(), datatype().mpi, comm());
    }

  private:
    std::vector<int> send_counts_;
    std::vector<int> send_starts_;
    std::vector<int> receive_counts_;
    std::vector<int> receive_starts_;
};

const RegisterOperation transpose_alltoall{"transpose", "alltoall", make<TransposeAlltoall>};
const RegisterOperation transpose_alltoallv{"transpose", "alltoallv", make<TransposeAlltoallv>};

}  // namespace

}  // namespace timpani
