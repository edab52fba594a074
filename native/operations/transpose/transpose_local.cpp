// A matrix and its copy in rank 0's memory: the cost of the library's datatypes without a network, and of memory alone.

#include <cstring>

#include "execute/node.hpp"
#include "operations/transpose/matrix.hpp"

namespace timpani {

namespace {

class LocalMatrix : public MatrixOperation {
  public:
    using MatrixOperation::MatrixOperation;

    int operator()(std::byte* send, std::byte* receive) override {
        return rank() == 0 ? copy(send, receive) : MPI_SUCCESS;
    }

    [[nodiscard]] Role role(int rank) const override { return rank == 0 ? Role::timed : Role::idle; }
    [[nodiscard]] std::string_view synchronized_by() const override { return "local"; }
    [[nodiscard]] const OsuLoop& osu_loop() const override { return kOsuLatency; }
    [[nodiscard]] std::int64_t receive_elements() const override { return send_elements(); }

  protected:
    virtual int copy(const std::byte* from, std::byte* to) = 0;
};

/// Transposed by a message to itself, all columns described by one datatype.
class LocalCopy : public LocalMatrix {
  public:
    explicit LocalCopy(const OperationSpec& spec) : LocalMatrix(spec), columns_(all_columns(matrix(), datatype())) {}

    void expected(std::int64_t first, Values values) const override { matrix().fill_transposed(values, first); }

  protected:
    int copy(const std::byte* from, std::byte* to) override {
        pass_time_of_columns(matrix().elements());
        return MPI_Sendrecv(from, 1, columns_.get(), 0, kMessageTag, to, static_cast<int>(matrix().elements()),
                            datatype().mpi, 0, kMessageTag, comm(), MPI_STATUS_IGNORE);
    }

  private:
    DerivedDatatype columns_;
};

/// Not transposed, without MPI.
class LocalMemcpy : public LocalMatrix {
  public:
    using LocalMatrix::LocalMatrix;

    void expected(std::int64_t first, Values values) const override { fill(values, first, Matrix::value); }
    [[nodiscard]] RowLengths row_lengths() const override { return matrix().copied_rows(); }

  protected:
    int copy(const std::byte* from, std::byte* to) override {
        const auto bytes = static_cast<std::size_t>(matrix().elements()) * datatype().bytes;
        pass_time_of_copying(static_cast<std::int64_t>(bytes));
        std::memcpy(to, from, bytes);
        return MPI_SUCCESS;
    }
};

const RegisterOperation transpose_local_copy{"transpose", "local_copy", make<LocalCopy>};
const RegisterOperation transpose_local_memcpy{"transpose", "local_memcpy", make<LocalMemcpy>};

}  // namespace

}  // namespace timpani
