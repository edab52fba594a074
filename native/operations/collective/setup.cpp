// The setup that an algorithm with a topology needs once per communicator: a private communicator, and which ranks
// share a node. The operation `setup` times it alone. A CallWithSetup includes it in each call.
// Makes and frees the communicators of a composed collective, which it needs once per communicator or in each call.

#include <string>

#include "composed/hierarchical.hpp"
#include "execute/discover_topology.hpp"
#include "execute/execution.hpp"
#include "operations/collective/collective_call.hpp"
#include "operations/operation.hpp"
#include "schedule/algorithm.hpp"

namespace timpani {

namespace {

/// A communicator of the same ranks, without the attributes of `comm`.
class PrivateCommunicator {
  public:
    explicit PrivateCommunicator(MPI_Comm comm) {
        MPI_Group group = MPI_GROUP_NULL;
        MPI_Comm_group(comm, &group);
        MPI_Comm_create(comm, group, &comm_);
        MPI_Group_free(&group);
    }
    ~PrivateCommunicator() { MPI_Comm_free(&comm_); }
    PrivateCommunicator(const PrivateCommunicator&) = delete;
    PrivateCommunicator& operator=(const PrivateCommunicator&) = delete;

    [[nodiscard]] MPI_Comm get() const { return comm_; }

  private:
    MPI_Comm comm_ = MPI_COMM_NULL;
};

class Setup : public Operation {
  public:
    explicit Setup(const OperationSpec& spec) : Operation(spec.datatype, spec.comm, spec.controls) {}

    int operator()(std::byte*, std::byte*) override {
        const PrivateCommunicator own(comm());
        return discover_topology(own.get(), "").ranks() == ranks() ? MPI_SUCCESS : MPI_ERR_INTERN;
    }
};

const RegisterOperation setup{"setup", "default", make<Setup>};

}  // namespace

CallWithSetup::CallWithSetup(const Collective& collective, const CollectiveArguments& args, const Datatype& datatype,
                             MPI_Comm comm, const std::string& algorithm)
    : CollectiveCall(collective, args, datatype, comm, {}, {}),
      bound_(timpani::bind(collective.name, algorithm, args)),
      group_(std::to_string(args.topology->group_of(args.topology->node_of(rank())))) {}

int CallWithSetup::run(void* send, void* receive) {
    const PrivateCommunicator own(comm());
    const Topology topology = discover_topology(own.get(), group_);
    CollectiveArguments args = bound_.args;
    args.topology = &topology;
    Execution execution(*bound_.algorithm, args, own.get(), datatype().mpi, datatype().op);
    return execution(send, receive);
}

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
