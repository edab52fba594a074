#include "measure/operation.hpp"

#include <array>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "schedule/bind.hpp"

namespace timpani {

namespace {

template <typename T>
void write(std::byte* at, std::uint64_t value) {
    const T converted = static_cast<T>(value);
    std::memcpy(at, &converted, sizeof converted);
}

template <typename T>
bool equals(const std::byte* at, std::uint64_t value) {
    T found;
    std::memcpy(&found, at, sizeof found);
    return found == static_cast<T>(value);
}

template <typename T>
Datatype datatype_of(MPI_Datatype mpi) {
    return {mpi, sizeof(T), write<T>, equals<T>};
}

}  // namespace

const Datatype& find_datatype(const std::string& name) {
    // Built on first use: some libraries' type handles are no compile-time constants.
    static const std::array<std::pair<std::string_view, Datatype>, 4> datatypes{{
        {"uint8", datatype_of<std::uint8_t>(MPI_UINT8_T)},
        {"int32", datatype_of<std::int32_t>(MPI_INT32_T)},
        {"float", datatype_of<float>(MPI_FLOAT)},
        {"double", datatype_of<double>(MPI_DOUBLE)},
    }};
    for (const auto& [known, datatype] : datatypes) {
        if (known == name) return datatype;
    }
    throw std::runtime_error("unknown datatype '" + name + "'");
}

struct Operation::Calls {
    static int null(const Operation&, std::byte*, std::byte*) { return MPI_SUCCESS; }
    static int barrier(const Operation& o, std::byte*, std::byte*) { return MPI_Barrier(o.comm_); }
    static int bcast(const Operation& o, std::byte* send, std::byte* receive) {
        return MPI_Bcast(o.rank_ == o.shape_.root ? send : receive, o.count_, o.type_, o.shape_.root, o.comm_);
    }
    static int gather(const Operation& o, std::byte* send, std::byte* receive) {
        return MPI_Gather(send, o.count_, o.type_, receive, o.count_, o.type_, o.shape_.root, o.comm_);
    }
    static int scatter(const Operation& o, std::byte* send, std::byte* receive) {
        return MPI_Scatter(send, o.count_, o.type_, receive, o.count_, o.type_, o.shape_.root, o.comm_);
    }
    static int allgather(const Operation& o, std::byte* send, std::byte* receive) {
        return MPI_Allgather(send, o.count_, o.type_, receive, o.count_, o.type_, o.comm_);
    }
    static int alltoall(const Operation& o, std::byte* send, std::byte* receive) {
        return MPI_Alltoall(send, o.count_, o.type_, receive, o.count_, o.type_, o.comm_);
    }
    static int alltoallv(const Operation& o, std::byte* send, std::byte* receive) {
        return MPI_Alltoallv(send, o.counts_.data(), o.displacements_.data(), o.type_, receive, o.counts_.data(),
                             o.displacements_.data(), o.type_, o.comm_);
    }
    static int reduce(const Operation& o, std::byte* send, std::byte* receive) {
        return MPI_Reduce(send, receive, o.count_, o.type_, MPI_SUM, o.shape_.root, o.comm_);
    }
    static int allreduce(const Operation& o, std::byte* send, std::byte* receive) {
        return MPI_Allreduce(send, receive, o.count_, o.type_, MPI_SUM, o.comm_);
    }
    static int reduce_scatter(const Operation& o, std::byte* send, std::byte* receive) {
        return MPI_Reduce_scatter(send, receive, o.counts_.data(), o.type_, MPI_SUM, o.comm_);
    }
    static int reduce_scatter_block(const Operation& o, std::byte* send, std::byte* receive) {
        return MPI_Reduce_scatter_block(send, receive, o.count_, o.type_, MPI_SUM, o.comm_);
    }
    static int scan(const Operation& o, std::byte* send, std::byte* receive) {
        return MPI_Scan(send, receive, o.count_, o.type_, MPI_SUM, o.comm_);
    }
    static int exscan(const Operation& o, std::byte* send, std::byte* receive) {
        return MPI_Exscan(send, receive, o.count_, o.type_, MPI_SUM, o.comm_);
    }

    static int ours(const Operation& o, std::byte* send, std::byte* receive) { return (*o.execution_)(send, receive); }

    static Call find(std::string_view name) {
        constexpr std::array<std::pair<std::string_view, Call>, 14> calls{{
            {"null", null},
            {"barrier", barrier},
            {"bcast", bcast},
            {"gather", gather},
            {"scatter", scatter},
            {"allgather", allgather},
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

Operation::Operation(const Collective& collective, const Shape& shape, const Datatype& datatype, MPI_Comm comm,
                     Controls controls)
    : collective_(collective),
      shape_(shape),
      datatype_(datatype),
      comm_(comm),
      controls_(std::move(controls)),
      type_(datatype.mpi),
      call_(Calls::find(collective.name)) {
    MPI_Comm_rank(comm, &rank_);
    // Displacements of the v-collectives are ints too, so the whole buffer must be countable.
    if (shape.count * shape.ranks > std::numeric_limits<int>::max()) {
        throw std::runtime_error(std::string(collective.name) + " of " + std::to_string(shape.count) +
                                 " elements a rank is too large for MPI's integer counts");
    }
    count_ = static_cast<int>(shape.count);
    const bool parts = collective.name == "reduce_scatter";
    for (int rank = 0; rank < shape.ranks; ++rank) {
        counts_.push_back(parts ? static_cast<int>(part_of(shape.count, shape.ranks, rank).count) : count_);
        displacements_.push_back(rank * count_);
    }
}

Operation::Operation(const Collective& collective, const Shape& shape, const Datatype& datatype, MPI_Comm comm,
                     const std::string& algorithm)
    : Operation(collective, shape, datatype, comm) {
    const BoundAlgorithm bound = timpani::bind(collective.name, algorithm, shape_);
    shape_ = bound.shape;
    execution_ = std::make_unique<Execution>(*bound.algorithm, shape_, comm, type_, MPI_SUM);
    call_ = Calls::ours;
}

}  // namespace timpani
