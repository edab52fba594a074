#include "operations/collective_call.hpp"

#include <limits>
#include <utility>

#include "schedule/bind.hpp"

namespace timpani {

CollectiveCall::CollectiveCall(const Collective& collective, const CollectiveArguments& args, const Datatype& datatype,
                               MPI_Comm comm, Controls controls)
    : Operation(datatype, comm, std::move(controls)),
      collective_(collective),
      args_(args),
      library_call_(library_call(collective)) {
    // Displacements of the v-collectives are ints too, so the whole buffer must be countable.
    if (args.count * args.ranks > std::numeric_limits<int>::max()) {
        throw NotApplicable(std::string(collective.name) + " of " + std::to_string(args.count) + " elements on " +
                            std::to_string(args.ranks) + " ranks is too large for MPI's integer counts");
    }
    arguments_ = library_arguments(collective, args, rank(), comm, datatype.mpi, MPI_SUM);
}

CollectiveCall::CollectiveCall(const Collective& collective, const CollectiveArguments& args, const Datatype& datatype,
                               MPI_Comm comm, const std::string& algorithm)
    : CollectiveCall(collective, args, datatype, comm) {
    const BoundAlgorithm bound = timpani::bind(collective.name, algorithm, args_);
    args_ = bound.args;
    execution_ = std::make_unique<Execution>(*bound.algorithm, args_, comm, datatype.mpi, MPI_SUM);
}

int CollectiveCall::operator()(std::byte* send, std::byte* receive) {
    return execution_ ? (*execution_)(send, receive) : library_call_(arguments_, send, receive);
}

std::uint64_t CollectiveCall::sent(std::int64_t i) const { return contribution(collective_, args_.ranks, rank(), i); }

std::optional<std::uint64_t> CollectiveCall::expected(std::int64_t i) const {
    const auto origin = collective_.origin(args_, rank(), i);
    if (!origin) return std::nullopt;
    return timpani::expected(collective_, args_.ranks, *origin);
}

}  // namespace timpani
