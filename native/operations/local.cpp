// Operations of one rank. `null` is empty: measured like a collective, it shows the overhead of measuring.
// `reduce_local` is MPI_Reduce_local: the cost of an addition without a message, γ in cost models.

#include "operations/operation.hpp"

namespace timpani {

namespace {

class Null : public Operation {
  public:
    explicit Null(const OperationSpec& spec) : Operation(spec.datatype, spec.comm, spec.controls) {}

    int operator()(std::byte*, std::byte*) override { return MPI_SUCCESS; }
};

const RegisterOperation null{"null", "default", make<Null>};

}  // namespace

namespace {

/// Adds the send buffer to the receive buffer, at rank 0.
class ReduceLocal : public Operation {
  public:
    explicit ReduceLocal(const OperationSpec& spec)
        : Operation(spec.datatype, spec.comm, spec.controls), count_(int_count(spec.bytes, spec.datatype)) {}

    int operator()(std::byte* send, std::byte* receive) override {
        if (rank() != 0) return MPI_SUCCESS;
        return MPI_Reduce_local(send, receive, count_, datatype().mpi, MPI_SUM);
    }

    [[nodiscard]] Role role(int rank) const override { return rank == 0 ? Role::timed : Role::idle; }
    [[nodiscard]] std::string_view synchronized_by() const override { return "local"; }
    [[nodiscard]] const OsuLoop& osu_loop() const override { return kOsuLatency; }
    [[nodiscard]] std::int64_t send_elements() const override { return rank() == 0 ? count_ : 0; }
    [[nodiscard]] std::int64_t receive_elements() const override { return send_elements(); }
    // Sums stay small if a call is repeated. In the checked call they stay below 256, at which bytes would overflow.
    void sent(std::int64_t first, Values values) const override { fill(values, first, summand); }
    void poison(std::int64_t first, Values values) const override { fill(values, first, other_summand); }
    void expected(std::int64_t first, Values values) const override {
        fill(values, first, [](std::int64_t i) { return summand(i) + other_summand(i); });
    }

  private:
    static std::uint64_t summand(std::int64_t i) { return i % 2 == 0 ? 1 : 0; }
    static std::uint64_t other_summand(std::int64_t i) { return static_cast<std::uint64_t>(i % 251); }

    int count_;
};

const RegisterOperation reduce_local{"reduce_local", "default", make<ReduceLocal>};

}  // namespace

}  // namespace timpani
