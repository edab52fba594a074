#include "execute/execution.hpp"

#include <algorithm>
#include <cstring>

#include "execute/operator.hpp"
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

std::int64_t elements_of(const std::vector<PackedBlock>& blocks) {
    return blocks.empty() ? 0 : blocks.back().offset + blocks.back().count;
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
                     MPI_Datatype type, MPI_Op op, const Displacements& where)
    : comm_(channel.comm),
      tag_(channel.tag),
      tag_of_copies_(channel.tag_of_copies()),
      rank_(rank_in(channel.comm)),
      type_(type),
      op_(op),
      layout_(type),
      program_(through(channel, compile(algorithm, admitted(algorithm, args, op, layout_), rank_in(channel.members)))),
      send_displaced_(!where.send.empty()),
      receive_displaced_(!where.receive.empty()) {
    const Collective& collective = *find_collective(algorithm.collective);
    const int member = rank_in(channel.members);
    send_blocks_ = send_blocks(collective, args, member, where);
    receive_blocks_ = receive_blocks(collective, args, member, where);
    in_place_blocks_ = in_place_blocks(collective, args, member, where);
    describe_large_messages();
    scratch_.allocate(program_.scratch, layout_);
    bases_[static_cast<std::size_t>(Buffer::scratch)] = scratch_.base();
    requests_.assign(static_cast<std::size_t>(program_.requests), MPI_REQUEST_NULL);
    if (send_displaced_) send_staging_.allocate(elements_of(send_blocks_), layout_);
    if (receive_displaced_) receive_staging_.allocate(elements_of(receive_blocks_), layout_);
    // Last: freeing a window is collective, so a rank that runs out of memory must not have made one.
    if (program_.window > 0) {
        window_ = std::make_unique<SharedWindow>(channel.members, *args.topology, layout_.bytes(program_.window));
        bases_[static_cast<std::size_t>(Buffer::window)] = window_->base() - layout_.true_lower;
    }
}

int Execution::operator()(const void* send, void* receive) {
    const bool send_in_place = send == MPI_IN_PLACE;
    const bool receive_in_place = receive == MPI_IN_PLACE;
    // Never written: the verifier refuses algorithms that write there.
    auto* const sent = static_cast<std::byte*>(const_cast<void*>(send));
    auto* const received = static_cast<std::byte*>(receive);
    std::byte*& send_base = bases_[static_cast<std::size_t>(Buffer::send)];
    std::byte*& receive_base = bases_[static_cast<std::size_t>(Buffer::receive)];
    send_base = sent;
    receive_base = received;
    if (send_in_place || send_displaced_) {
        const auto& blocks = send_in_place ? in_place_blocks_ : send_blocks_;
        const std::byte* const from = send_in_place ? received : sent;
        if (send_staging_.base() == nullptr)
            send_staging_.allocate(elements_of(blocks), layout_);  // the first in-place call
        send_base = send_staging_.base();
        for (const auto& [displacement, offset, count] : blocks) {
            const int error = copy(from + displacement * layout_.extent, send_base + offset * layout_.extent, count);
            if (error != MPI_SUCCESS) return error;
        }
    }
    if (receive_in_place || receive_displaced_) {
        if (receive_staging_.base() == nullptr) receive_staging_.allocate(elements_of(receive_blocks_), layout_);
        receive_base = receive_staging_.base();
    }
    // A rank continues after an error: other ranks would otherwise wait for its messages for ever.
    int first_error = MPI_SUCCESS;
    for (const Instruction& instruction : program_.instructions) {
        if (const int error = run(instruction); first_error == MPI_SUCCESS) first_error = error;
    }
    if (!receive_displaced_ || receive_in_place || first_error != MPI_SUCCESS)
        return first_error;  // in place, a scatter's root already has its block
    for (const auto& [displacement, offset, count] : receive_blocks_) {
        const int error = copy(receive_base + offset * layout_.extent, received + displacement * layout_.extent, count);
        if (error != MPI_SUCCESS) return error;
    }
    return MPI_SUCCESS;
}

void Execution::describe_large_messages() {
    const auto has_type_of = [&](std::int64_t count) {
        return std::ranges::find(large_messages_, count, &ManyElements::count) != large_messages_.end();
    };
    for (const Instruction& each : program_.instructions) {
        if (each.kind == Instruction::Kind::copy || each.kind == Instruction::Kind::reduce) continue;
        for (const std::int64_t count : {each.from.count, each.to.count}) {
            if (count <= kMaxCount || has_type_of(count)) continue;
            large_messages_.emplace_back(type_, layout_.extent, count);
        }
    }
}

Execution::Message Execution::message(const Region& region) const {
    if (region.count <= kMaxCount) return {at(region), static_cast<int>(region.count), type_};
    const auto found = std::ranges::find(large_messages_, region.count, &ManyElements::count);
    return {at(region), 1, found->type()};
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
