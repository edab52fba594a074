#include "operations/collective/collective_call.hpp"

#include <algorithm>
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

void CollectiveCall::sent(std::int64_t first, Values values) const {
    fill_from(collective_, args_.ranks, {rank(), rank(), first}, values);
}

void CollectiveCall::expected(std::int64_t first, Values values) const {
    while (!values.empty()) {
        const auto alike = static_cast<std::size_t>(collective_.end_of_run(args_, rank(), first) - first);
        const Values run = values.first(std::min(values.size(), alike));
        if (const auto origin = collective_.origin(args_, rank(), first)) {
            fill_from(collective_, args_.ranks, *origin, run);
        } else {
            std::ranges::fill(run, kUndefined);
        }
        first += static_cast<std::int64_t>(run.size());
        values = values.subspan(run.size());
    }
}

}  // namespace timpani
