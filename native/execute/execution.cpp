#include "execute/execution.hpp"

#include <cstring>

namespace timpani {

namespace {
constexpr int kTag = 17;
}  // namespace

Execution::Execution(const Algorithm& algorithm, const Shape& shape, MPI_Comm comm, MPI_Datatype type, MPI_Op op)
    : comm_(comm), type_(type), op_(op) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    program_ = compile(algorithm, shape, rank);
    MPI_Aint lower = 0;
    MPI_Aint true_lower = 0;
    MPI_Aint true_extent = 0;
    int size = 0;
    MPI_Type_get_extent(type, &lower, &extent_);
    MPI_Type_get_true_extent(type, &true_lower, &true_extent);
    MPI_Type_size(type, &size);
    contiguous_ = lower == 0 && true_lower == 0 && extent_ == size && true_extent == size;
    // Scratch holds elements at their extent, from the first byte that the type really touches to the last.
    const auto elements = static_cast<MPI_Aint>(program_.scratch);
    if (elements > 0) scratch_.resize(static_cast<std::size_t>((elements - 1) * extent_ + true_extent));
    bases_[static_cast<std::size_t>(Buffer::scratch)] = scratch_.data() - true_lower;
    requests_.assign(static_cast<std::size_t>(program_.slots), MPI_REQUEST_NULL);
}

int Execution::operator()(const std::byte* send, std::byte* receive) {
    // Only read: the verifier refuses algorithms that write there.
    bases_[static_cast<std::size_t>(Buffer::send)] = const_cast<std::byte*>(send);
    bases_[static_cast<std::size_t>(Buffer::receive)] = receive;
    for (const Instruction& instruction : program_.instructions) {
        if (const int error = run(instruction); error != MPI_SUCCESS) return error;
    }
    return MPI_SUCCESS;
}

int Execution::run(const Instruction& instruction) {
    const auto& [kind, peer, other_peer, from, to, slot] = instruction;
    const auto count = [](const Region& region) { return static_cast<int>(region.count); };
    switch (kind) {
        case Instruction::Kind::send:
            return MPI_Send(at(from), count(from), type_, peer, kTag, comm_);
        case Instruction::Kind::receive:
            return MPI_Recv(at(to), count(to), type_, peer, kTag, comm_, MPI_STATUS_IGNORE);
        case Instruction::Kind::exchange:
            return MPI_Sendrecv(at(from), count(from), type_, peer, kTag, at(to), count(to), type_, other_peer, kTag,
                                comm_, MPI_STATUS_IGNORE);
        case Instruction::Kind::start_send:
            return MPI_Isend(at(from), count(from), type_, peer, kTag, comm_,
                             &requests_[static_cast<std::size_t>(slot)]);
        case Instruction::Kind::start_receive:
            return MPI_Irecv(at(to), count(to), type_, peer, kTag, comm_, &requests_[static_cast<std::size_t>(slot)]);
        case Instruction::Kind::wait:
            return MPI_Wait(&requests_[static_cast<std::size_t>(slot)], MPI_STATUS_IGNORE);
        case Instruction::Kind::wait_all:
            return MPI_Waitall(slot, requests_.data(), MPI_STATUSES_IGNORE);
        case Instruction::Kind::copy:
            copy(from, to);
            return MPI_SUCCESS;
        case Instruction::Kind::reduce:
            return MPI_Reduce_local(at(from), at(to), count(from), type_, op_);
    }
    return MPI_ERR_INTERN;
}

void Execution::copy(const Region& from, const Region& to) const {
    if (contiguous_) {
        std::memcpy(at(to), at(from), static_cast<std::size_t>(from.count * extent_));
        return;
    }
    // Only MPI knows where the gaps of a type are.
    MPI_Sendrecv(at(from), static_cast<int>(from.count), type_, 0, kTag, at(to), static_cast<int>(to.count), type_, 0,
                 kTag, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}

}  // namespace timpani
