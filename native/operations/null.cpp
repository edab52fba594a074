// An empty operation. Measured like a collective, it shows the overhead of measuring.

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

}  // namespace timpani
