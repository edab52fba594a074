#include "execute/execution.hpp"

#include <algorithm>
#include <cstring>

#include "execute/elements.hpp"
#include "execute/rank_and_size.hpp"

namespace timpani {

namespace {

/// The arguments, completed with the operator's and the datatype's properties.
CollectiveArguments admitted(const Algorithm& algorithm, CollectiveArguments args, MPI_Op op,
                             const ElementLayout& layout) {
    args.commutative = commutes(op);
    args.element_bytes = std::max(1, layout.size);
    require_admitted(algorithm, args);
    return args;
}

/// Calls `call(first, elements)` for parts of `count` elements, each within int. Returns MPI's first error code.
template <typename Call>
int in_parts(std::int64_t count, const Call& call) {
    int error = MPI_SUCCESS;
    for (std::int64_t first = 0; first < count && error == MPI_SUCCESS; first += kMaxCount) {
        error = call(first, static_cast<int>(std::min(count - first, kMaxCount)));
    }
    return error;
}

/// The program, with ranks as the channel numbers them.
Program through(const Channel& channel, Program program) {
    for (Instruction& each : program.instructions) {
        if (each.peer >= 0) each.peer = channel.rank_of(each.peer);
        if (each.other_peer >= 0) each.other_peer = channel.rank_of(each.other_peer);
    }
    return program;
}

}  // namespace

Execution::Execution(const Algorithm& algorithm, const CollectiveArguments& args, const Channel& channel,
                     MPI_Datatype type, MPI_Op op)
    : comm_(channel.comm),
      tag_(channel.tag),
      tag_of_copies_(channel.tag_of_copies()),
      rank_(rank_in(channel.comm)),
      type_(type),
      op_(op),
      layout_(type),
      program_(through(channel, compile(algorithm, admitted(algorithm, args, op, layout_), rank_in(channel.members)))) {
    const Collective& collective = *find_collective(algorithm.collective);
    const int member = rank_in(channel.members);
    contributed_in_place_ = collective.contributed_in_place(args, member);
    receive_elements_ = collective.receive_elements(args, member);
    describe_large_messages();
    scratch_.allocate(program_.scratch, layout_);
    bases_[static_cast<std::size_t>(Buffer::scratch)] = scratch_.base();
    requests_.assign(static_cast<std::size_t>(program_.requests), MPI_REQUEST_NULL);
    // Last: freeing a window is collective, so a rank that runs out of memory must not have made one.
    if (program_.window > 0) {
        window_ = std::make_unique<SharedWindow>(channel.members, *args.topology, layout_.bytes(program_.window));
        bases_[static_cast<std::size_t>(Buffer::window)] = window_->base() - layout_.true_lower;
    }
}

int Execution::operator()(const void* send, void* receive) {
    // Never written: the verifier refuses algorithms that write there.
    auto* const sent = static_cast<std::byte*>(const_cast<void*>(send));
    auto* const received = static_cast<std::byte*>(receive);
    std::byte*& send_base = bases_[static_cast<std::size_t>(Buffer::send)];
    std::byte*& receive_base = bases_[static_cast<std::size_t>(Buffer::receive)];
    send_base = sent;
    receive_base = received;
    if (send == MPI_IN_PLACE) {
        const auto& [first, count] = contributed_in_place_;
        if (send_staging_.base() == nullptr) send_staging_.allocate(count, layout_);
        send_base = send_staging_.base();
        if (const int error = copy(received + first * layout_.extent, send_base, count); error != MPI_SUCCESS)
            return error;
    }
    if (receive == MPI_IN_PLACE) {  // a scatter's root already has its block
        if (receive_staging_.base() == nullptr) receive_staging_.allocate(receive_elements_, layout_);
        receive_base = receive_staging_.base();
    }
    // A rank continues after an error: other ranks would otherwise wait for its messages for ever.
    int first_error = MPI_SUCCESS;
    for (const Instruction& instruction : program_.instructions) {
        if (const int error = run(instruction); first_error == MPI_SUCCESS) first_error = error;
    }
    return first_error;
}

void Execution::describe_large_messages() {
    for (const Instruction& each : program_.instructions) {
        if (each.kind == Instruction::Kind::copy || each.kind == Instruction::Kind::reduce) continue;
        for (const std::int64_t count : {each.from.count, each.to.count}) {
            if (count <= kMaxCount || large_messages_.contains(count)) continue;
            large_messages_.emplace(count, many_elements(type_, layout_.extent, count));
        }
    }
}

Execution::Message Execution::message(const Region& region) const {
    if (region.count <= kMaxCount) return {at(region), static_cast<int>(region.count), type_};
    return {at(region), 1, large_messages_.at(region.count).get()};
}

int Execution::run(const Instruction& instruction) {
    const auto& [kind, peer, other_peer, from, to, request] = instruction;
    switch (kind) {
        case Instruction::Kind::send: {
            const Message sent = message(from);
            return PMPI_Send(sent.data, sent.count, sent.type, peer, tag_, comm_);
        }
        case Instruction::Kind::receive: {
            const Message received = message(to);
            return PMPI_Recv(received.data, received.count, received.type, peer, tag_, comm_, MPI_STATUS_IGNORE);
        }
        case Instruction::Kind::exchange: {
            const Message sent = message(from);
            const Message received = message(to);
            return PMPI_Sendrecv(sent.data, sent.count, sent.type, peer, tag_, received.data, received.count,
                                 received.type, other_peer, tag_, comm_, MPI_STATUS_IGNORE);
        }
        case Instruction::Kind::start_send: {
            const Message sent = message(from);
            return PMPI_Isend(sent.data, sent.count, sent.type, peer, tag_, comm_,
                              &requests_[static_cast<std::size_t>(request)]);
        }
        case Instruction::Kind::start_receive: {
            const Message received = message(to);
            return PMPI_Irecv(received.data, received.count, received.type, peer, tag_, comm_,
                              &requests_[static_cast<std::size_t>(request)]);
        }
        case Instruction::Kind::wait:
            return PMPI_Wait(&requests_[static_cast<std::size_t>(request)], MPI_STATUS_IGNORE);
        case Instruction::Kind::wait_all:
            return PMPI_Waitall(request, requests_.data(), MPI_STATUSES_IGNORE);
        case Instruction::Kind::copy:
            return copy(at(from), at(to), from.count);
        case Instruction::Kind::reduce:
            return reduce(at(from), at(to), from.count);
        case Instruction::Kind::sync:
            return window_->sync();
    }
    return MPI_ERR_INTERN;
}

int Execution::copy(const std::byte* from, std::byte* to, std::int64_t count) const {
    if (layout_.contiguous && count > 0) {
        std::memcpy(to, from, static_cast<std::size_t>(count * layout_.extent));
        return MPI_SUCCESS;
    }
    // Only MPI knows where a type has gaps.
    return in_parts(count, [&](std::int64_t first, int elements) {
        return PMPI_Sendrecv(from + first * layout_.extent, elements, type_, rank_, tag_of_copies_,
                             to + first * layout_.extent, elements, type_, rank_, tag_of_copies_, comm_,
                             MPI_STATUS_IGNORE);
    });
}

int Execution::reduce(const std::byte* from, std::byte* to, std::int64_t count) const {
    return in_parts(count, [&](std::int64_t first, int elements) {
        return PMPI_Reduce_local(from + first * layout_.extent, to + first * layout_.extent, elements, type_, op_);
    });
}

}  // namespace timpani
