#include <algorithm>
#include <numeric>

#include "measure/cell/buffers.hpp"
#include "measure/cell/timed_block.hpp"
#include "tests/check.hpp"

namespace timpani {

namespace {

constexpr std::int64_t kElements = 2000;  // more than are checked at once

/// A call that does nothing; its result would be the elements' numbers.
class Nothing : public Operation {
  public:
    Nothing() : Operation(find_datatype("int32"), MPI_COMM_SELF, {}) {}
    int operator()(std::byte* /*send*/, std::byte* /*receive*/) override { return MPI_SUCCESS; }
    [[nodiscard]] std::int64_t receive_elements() const override { return kElements; }
    void expected(std::int64_t first, Values values) const override {
        std::iota(values.begin(), values.end(), static_cast<std::uint64_t>(first));
    }
};

struct OneRankOfMpi {
    OneRankOfMpi() { MPI_Init(nullptr, nullptr); }
    ~OneRankOfMpi() { MPI_Finalize(); }
    OneRankOfMpi(const OneRankOfMpi&) = delete;
    OneRankOfMpi& operator=(const OneRankOfMpi&) = delete;
};

}  // namespace

TEST(a_result_is_checked_to_its_last_element_and_a_late_start_is_invalid) {
    const OneRankOfMpi mpi;
    Nothing nothing;
    Buffers buffers;
    buffers.prepare(nothing, CacheMode::warm);
    std::vector<std::uint64_t> values(kElements);
    nothing.expected(0, values);
    nothing.datatype().write(buffers.receive(), values);
    CHECK(!buffers.find_mistake(nothing));
    ++values.back();
    nothing.datatype().write(buffers.receive(), values);
    CHECK(buffers.find_mistake(nothing).value_or("").starts_with("wrong data: rank 0 element 1999 of 2000"));

    const LocalClock fast({.drift_ppm = 1e9});  // every reading comes more than 1 ns after the one before
    GlobalClock clock(MPI_COMM_SELF, fast);
    const Harness harness{MPI_COMM_SELF, 0, 1, clock};
    const auto valid = [&](std::int64_t slack_ns) {
        const Block block = run_block(harness, nothing, buffers, 10, {.slack_ns = slack_ns});
        return std::ranges::count(block.repetitions, true, &Repetition::valid);
    };
    CHECK(valid(1) == 0);   // the deadline is over when a rank knows it
    CHECK(valid(0) == 10);  // no deadline
}

}  // namespace timpani
