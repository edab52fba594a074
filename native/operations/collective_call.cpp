#include "operations/collective_call.hpp"

#include <array>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "schedule/bind.hpp"

namespace timpani {

struct CollectiveCall::Calls {
    static int null(const CollectiveCall&, std::byte*, std::byte*) { return MPI_SUCCESS; }
    static int barrier(const CollectiveCall& o, std::byte*, std::byte*) { return MPI_Barrier(o.comm()); }
    static int bcast(const CollectiveCall& o, std::byte* send, std::byte* receive) {
        return MPI_Bcast(o.rank() == o.shape_.root ? send : receive, o.count_, o.type_, o.shape_.root, o.comm());
    }
    static int gather(const CollectiveCall& o, std::byte* send, std::byte* receive) {
        return MPI_Gather(send, o.count_, o.type_, receive, o.count_, o.type_, o.shape_.root, o.comm());
    }
    static int scatter(const CollectiveCall& o, std::byte* send, std::byte* receive) {
        return MPI_Scatter(send, o.count_, o.type_, receive, o.count_, o.type_, o.shape_.root, o.comm());
    }
    static int allgather(const CollectiveCall& o, std::byte* send, std::byte* receive) {
        return MPI_Allgather(send, o.count_, o.type_, receive, o.count_, o.type_, o.comm());
    }
    static int gatherv(const CollectiveCall& o, std::byte* send, std::byte* receive) {
        return MPI_Gatherv(send, o.count_, o.type_, receive, o.counts_.data(), o.displacements_.data(), o.type_,
                           o.shape_.root, o.comm());
    }
    static int scatterv(const CollectiveCall& o, std::byte* send, std::byte* receive) {
        return MPI_Scatterv(send, o.counts_.data(), o.displacements_.data(), o.type_, receive, o.count_, o.type_,
                            o.shape_.root, o.comm());
    }
    static int allgatherv(const CollectiveCall& o, std::byte* send, std::byte* receive) {
        return MPI_Allgatherv(send, o.count_, o.type_, receive, o.counts_.data(), o.displacements_.data(), o.type_,
                              o.comm());
    }
    static int alltoall(const CollectiveCall& o, std::byte* send, std::byte* receive) {
        return MPI_Alltoall(send, o.count_, o.type_, receive, o.count_, o.type_, o.comm());
    }
    static int alltoallv(const CollectiveCall& o, std::byte* send, std::byte* receive) {
        return MPI_Alltoallv(send, o.counts_.data(), o.displacements_.data(), o.type_, receive, o.counts_.data(),
                             o.displacements_.data(), o.type_, o.comm());
    }
    static int reduce(const CollectiveCall& o, std::byte* send, std::byte* receive) {
        return MPI_Reduce(send, receive, o.count_, o.type_, MPI_SUM, o.shape_.root, o.comm());
    }
    static int allreduce(const CollectiveCall& o, std::byte* send, std::byte* receive) {
        return MPI_Allreduce(send, receive, o.count_, o.type_, MPI_SUM, o.comm());
    }
    static int reduce_scatter(const CollectiveCall& o, std::byte* send, std::byte* receive) {
        return MPI_Reduce_scatter(send, receive, o.counts_.data(), o.type_, MPI_SUM, o.comm());
    }
    static int reduce_scatter_block(const CollectiveCall& o, std::byte* send, std::byte* receive) {
        return MPI_Reduce_scatter_block(send, receive, o.count_, o.type_, MPI_SUM, o.comm());
    }
    static int scan(const CollectiveCall& o, std::byte* send, std::byte* receive) {
        return MPI_Scan(send, receive, o.count_, o.type_, MPI_SUM, o.comm());
    }
    static int exscan(const CollectiveCall& o, std::byte* send, std::byte* receive) {
        return MPI_Exscan(send, receive, o.count_, o.type_, MPI_SUM, o.comm());
    }

    static int ours(const CollectiveCall& o, std::byte* send, std::byte* receive) {
        return (*o.execution_)(send, receive);
    }

    static Call find(std::string_view name) {
        constexpr std::array<std::pair<std::string_view, Call>, 17> calls{{
            {"null", null},
            {"barrier", barrier},
            {"bcast", bcast},
            {"gather", gather},
            {"scatter", scatter},
            {"gatherv", gatherv},
            {"scatterv", scatterv},
            {"allgather", allgather},
            {"allgatherv", allgatherv},
            {"alltoall", alltoall},
            {"alltoallv", alltoallv},
            {"reduce", reduce},
            {"allreduce", allreduce},
            {"reduce_scatter", reduce_scatter},
            {"reduce_scatter_block", reduce_scatter_block},
            {"scan", scan},
            {"exscan", exscan},
        }};
        for (const auto& [known, call] : calls) {
            if (known == name) return call;
        }
        throw std::runtime_error("no call is known for the collective '" + std::string(name) + "'");
    }
};

CollectiveCall::CollectiveCall(const Collective& collective, const Shape& shape, const Datatype& datatype,
                               MPI_Comm comm, Controls controls)
    : Operation(datatype, comm, std::move(controls)),
      collective_(collective),
      shape_(shape),
      type_(datatype.mpi),
      call_(Calls::find(collective.name)) {
    // Displacements of the v-collectives are ints too, so the whole buffer must be countable.
    if (shape.count * shape.ranks > std::numeric_limits<int>::max()) {
        throw NotApplicable(std::string(collective.name) + " of " + std::to_string(shape.count) + " elements on " +
                            std::to_string(shape.ranks) + " ranks is too large for MPI's integer counts");
    }
    count_ = static_cast<int>(shape.count);
    const bool parts = collective.name == "reduce_scatter";
    for (int rank = 0; rank < shape.ranks; ++rank) {
        counts_.push_back(parts ? static_cast<int>(part_of(shape.count, shape.ranks, rank).count) : count_);
        displacements_.push_back(rank * count_);
    }
}

CollectiveCall::CollectiveCall(const Collective& collective, const Shape& shape, const Datatype& datatype,
                               MPI_Comm comm, const std::string& algorithm)
    : CollectiveCall(collective, shape, datatype, comm) {
    const BoundAlgorithm bound = timpani::bind(collective.name, algorithm, shape_);
    shape_ = bound.shape;
    execution_ = std::make_unique<Execution>(*bound.algorithm, shape_, comm, type_, MPI_SUM);
    call_ = Calls::ours;
}

std::uint64_t CollectiveCall::sent(std::int64_t i) const { return contribution(collective_, shape_.ranks, rank(), i); }

std::optional<std::uint64_t> CollectiveCall::expected(std::int64_t i) const {
    const auto origin = collective_.origin(shape_, rank(), i);
    if (!origin) return std::nullopt;
    return timpani::expected(collective_, shape_.ranks, *origin);
}

}  // namespace timpani
