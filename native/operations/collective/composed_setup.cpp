// Makes and frees the communicators of a composed collective, which it needs once per communicator or in each call.

#include "composed/hierarchical.hpp"
#include "operations/collective/composed_call.hpp"
#include "operations/operation.hpp"

namespace timpani {

namespace {

template <const Shape& shape>
class ComposedSetup : public Operation {
  public:
    explicit ComposedSetup(const OperationSpec& spec) : Operation(spec.datatype, spec.comm, spec.controls) {
        require_extent(spec.topology, 2, shape.by_group ? 2 : 1);
        CollectiveArguments args{ranks(), 0, 0};
        args.topology = &spec.topology;
        levels_ = levels_of(args, rank(), shape).levels;
    }

    int operator()(std::byte*, std::byte*) override {
        const LevelCommunicators made(comm(), levels_, shape, rank());
        return made.get()[0] == MPI_COMM_NULL ? MPI_ERR_INTERN : MPI_SUCCESS;
    }

  private:
    std::vector<Level> levels_;
};

const RegisterOperation three_level{"setup", "composed/three_level", make<ComposedSetup<shapes::three_level>>};
const RegisterOperation two_level{"setup", "composed/two_level", make<ComposedSetup<shapes::two_level>>};
const RegisterOperation two_level_linear{"setup", "composed/two_level_linear",
                                         make<ComposedSetup<shapes::two_level_linear>>};

}  // namespace

}  // namespace timpani
