#include "interpose/call/arguments.hpp"

#include <algorithm>
#include <vector>

namespace timpani {

namespace {

std::int64_t type_bytes(MPI_Datatype type) {
    MPI_Count size = 0;
    PMPI_Type_size_x(type, &size);
    return size;
}

/// Elements of all blocks together.
std::int64_t elements_of(const BufferArguments& buffer, RankInComm here) {
    std::int64_t all = 0;
    for (int rank = 0; buffer.counts.given() && rank < here.ranks; ++rank) all += buffer.counts[rank];
    return all;
}

bool described(const BufferArguments& buffer, RankInComm here, bool with_displacements) {
    if (buffer.type == MPI_DATATYPE_NULL || buffer.count < 0 || (with_displacements && !buffer.displacements.given()))
        return false;
    for (int rank = 0; buffer.counts.given() && rank < here.ranks; ++rank) {
        if (buffer.counts[rank] < 0) return false;
    }
    return true;
}

/// Whether the blocks of those buffers are told by arrays, which must be there.
bool by_arrays(const Collective& collective, const CollectiveBuffers& buffers) {
    return collective.counts != BlockCounts::equal && buffers.in_blocks();
}

bool in_place_allowed(const InterceptedCall& call, RankInComm here, bool sending) {
    switch (collective_of(call.kind).in_place()) {
        case InPlace::never:
            return false;
        case InPlace::send:
            return sending;
        case InPlace::send_at_root:
            return sending && here.rank == call.root;
        case InPlace::receive_at_root:
            return !sending && here.rank == call.root;
    }
    return false;
}

bool buffer_may_be_valid(const InterceptedCall& call, RankInComm here, bool sending) {
    const BufferArguments& buffer = sending ? call.send : call.receive;
    if (buffer.data == MPI_IN_PLACE) return in_place_allowed(call, here, sending);
    const Collective& collective = collective_of(call.kind);
    const bool arrays = by_arrays(collective, sending ? collective.send : collective.receive);
    if (arrays && !buffer.counts.given()) return false;
    return described(buffer, here, arrays);
}

/// Whether the library looks for buffers that are one: MPICH everywhere, Open MPI in these two, and lets the rest be.
/// To leave to it what it takes would be to leave it on some ranks only.
bool refuses_one_buffer(CollectiveKind kind) {
#ifdef MPICH_VERSION
    return kind != CollectiveKind::barrier;
#else
    return kind == CollectiveKind::allreduce || kind == CollectiveKind::reduce;
#endif
}

/// The buffer whose arguments tell how much a call moves: at the root the one that only the root has, since the other
/// may be in place, else the one that every rank has. A reduction's type and count are told with its result.
const BufferArguments& describing_buffer(const InterceptedCall& call, RankInComm here) {
    const Collective& collective = collective_of(call.kind);
    const bool from_root = collective.send.holders == Holders::root && here.rank == call.root;
    const bool received = receives(call, here) && !from_root;
    return received || collective.reduces() || collective.one_buffer() ? call.receive : call.send;
}

}  // namespace

bool sends(const InterceptedCall& call, RankInComm here) {
    return collective_of(call.kind).send.used_by(here.rank, call.root);
}

bool receives(const InterceptedCall& call, RankInComm here) {
    const Collective& collective = collective_of(call.kind);
    if (collective.result == Result::prefix_before && here.rank == 0) return false;  // nothing lies before it
    return collective.receive.used_by(here.rank, call.root);
}

bool aliased(const InterceptedCall& call, RankInComm here) {
    const Collective& collective = collective_of(call.kind);
    const bool both = sends(call, here) && collective.receive.used_by(here.rank, call.root);
    if (!both || call.send.data != call.receive.data) return false;
    if (!collective.reduces() && call.send.type != call.receive.type) return false;
    return call.receive.data != MPI_BOTTOM && message_bytes(call, here) > 0;
}

bool may_be_valid(const InterceptedCall& call, RankInComm here) {
    const Collective& collective = collective_of(call.kind);
    if (collective.result == Result::none) return true;
    if (collective.rooted() && (call.root < 0 || call.root >= here.ranks)) return false;
    if (collective.one_buffer()) return call.receive.data != MPI_IN_PLACE && described(call.receive, here, false);
    const bool refused = refuses_one_buffer(call.kind) && aliased(call, here);
    if (collective.reduces()) {
        if (call.op == MPI_OP_NULL || !described(call.receive, here, false)) return false;
        if (call.send.data == MPI_IN_PLACE && !in_place_allowed(call, here, true)) return false;
        if (collective.receive.content == Content::part && !call.receive.counts.given()) return false;
        return (!receives(call, here) || call.receive.data != MPI_IN_PLACE) && !refused;
    }
    return (!sends(call, here) || buffer_may_be_valid(call, here, true)) &&
           (!receives(call, here) || buffer_may_be_valid(call, here, false)) && !refused;
}

std::int64_t message_bytes(const InterceptedCall& call, RankInComm here) {
    const Collective& collective = collective_of(call.kind);
    if (collective.result == Result::none) return 0;
    const auto all = [&](const BufferArguments& buffer) { return elements_of(buffer, here) * type_bytes(buffer.type); };
    if (collective.receive.content == Content::part) return all(call.receive);
    if (by_arrays(collective, collective.send) && by_arrays(collective, collective.receive)) {
        return std::max(call.send.data == MPI_IN_PLACE ? 0 : all(call.send), all(call.receive));
    }
    const BufferArguments& buffer = describing_buffer(call, here);
    return (!buffer.counts.given() ? buffer.count : buffer.counts[here.rank]) * type_bytes(buffer.type);
}

std::vector<std::int64_t> block_bytes(const BufferArguments& buffer, RankInComm here) {
    const auto size = type_bytes(buffer.type);
    std::vector<std::int64_t> bytes;
    for (int rank = 0; rank < here.ranks; ++rank) bytes.push_back(buffer.counts[rank] * size);
    return bytes;
}

}  // namespace timpani
