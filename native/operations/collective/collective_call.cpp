#include "operations/collective/collective_call.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "execute/execution.hpp"
#include "schedule/bind.hpp"

namespace timpani {

CollectiveCall::CollectiveCall(const Collective& collective, const CollectiveArguments& args, const Datatype& datatype,
                               MPI_Comm comm, Controls controls)
    : CollectiveCall(collective, args, datatype, comm, std::move(controls), {}) {
    call_ = bound_library_call(collective, args, rank(), comm, datatype.mpi, datatype.op);
}

CollectiveCall::CollectiveCall(const Collective& collective, const CollectiveArguments& args, const Datatype& datatype,
                               MPI_Comm comm, const std::string& algorithm)
    : CollectiveCall(collective, args, datatype, comm, {}, {}) {
    const BoundAlgorithm bound = timpani::bind(collective.name, algorithm, args_);
    args_ = bound.args;
    call_ = [execution = std::make_shared<Execution>(*bound.algorithm, args_, comm, datatype.mpi, datatype.op)](
                void* send, void* receive) { return (*execution)(send, receive); };
}

CollectiveCall::CollectiveCall(const Collective& collective, const CollectiveArguments& args, const Datatype& datatype,
                               MPI_Comm comm, Controls controls, BoundLibraryCall call)
    : Operation(datatype, comm, std::move(controls)), collective_(collective), args_(args), call_(std::move(call)) {}

int CollectiveCall::operator()(std::byte* send, std::byte* receive) { return call_(send, receive); }

void CollectiveCall::sent(std::int64_t first, Values values) const {
    fill_from(collective_, args_.ranks, {rank(), rank(), first}, values, datatype().combination);
}

void CollectiveCall::expected(std::int64_t first, Values values) const {
    while (!values.empty()) {
        const auto alike = static_cast<std::size_t>(collective_.end_of_run(args_, rank(), first) - first);
        const Values run = values.first(std::min(values.size(), alike));
        if (const auto origin = collective_.origin(args_, rank(), first)) {
            fill_from(collective_, args_.ranks, *origin, run, datatype().combination);
        } else {
            std::ranges::fill(run, kUndefined);
        }
        first += static_cast<std::int64_t>(run.size());
        values = values.subspan(run.size());
    }
}

}  // namespace timpani
