// Nothing: measured like a collective, it shows what measuring itself costs.

#include "operations/register_operation.hpp"

namespace timpani {

namespace {

class Null : public Operation {
  public:
    explicit Null(const OperationSpec& spec) : Operation(spec.datatype, spec.comm, spec.controls) {}

    int operator()(std::byte*, std::byte*) override { return MPI_SUCCESS; }
    [[nodiscard]] std::int64_t send_elements() const override { return 0; }
    [[nodiscard]] std::int64_t receive_elements() const override { return 0; }
    [[nodiscard]] std::uint64_t sent(std::int64_t) const override { return 0; }
    [[nodiscard]] std::optional<std::uint64_t> expected(std::int64_t) const override { return std::nullopt; }
};

const RegisterOperation null{"null", "default", make<Null>};

}  // namespace

}  // namespace timpani
