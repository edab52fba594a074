#include "interpose/arguments.hpp"

#include <algorithm>
#include <numeric>
#include <span>

namespace timpani {

namespace {

std::int64_t type_bytes(MPI_Datatype type) {
    MPI_Count size = 0;
    PMPI_Type_size_x(type, &size);
    return size;
}

std::span<const int> counts_of(const Side& side, Place here) {
    return {side.counts, side.counts == nullptr ? 0 : static_cast<std::size_t>(here.ranks)};
}

bool described(const Side& side, Place here, bool with_places) {
    if (side.type == MPI_DATATYPE_NULL || side.count < 0 || (with_places && side.places == nullptr)) return false;
    return std::ranges::none_of(counts_of(side, here), [](int count) { return count < 0; });
}

/// A side that has blocks of any size, told by arrays that must be there.
bool blocks_sent(Kind kind) { return kind == Kind::scatterv || kind == Kind::alltoallv; }
bool blocks_received(Kind kind) { return kind == Kind::gatherv || kind == Kind::allgatherv || kind == Kind::alltoallv; }

std::int64_t sum(std::span<const int> counts) { return std::accumulate(counts.begin(), counts.end(), std::int64_t{0}); }

/// The buffer that may be MPI_IN_PLACE: the one whose data lies in the other already.
bool in_place_allowed(const Call& call, Place here, bool sending) {
    const bool at_root = here.rank == call.root;
    switch (call.kind) {
        case Kind::barrier:
        case Kind::bcast:
            return false;
        case Kind::gather:
        case Kind::gatherv:
        case Kind::reduce:
            return sending && at_root;
        case Kind::scatter:
        case Kind::scatterv:
            return !sending && at_root;
        default:
            return sending;
    }
}

bool side_plausible(const Call& call, Place here, bool sending) {
    const Side& side = sending ? call.send : call.receive;
    if (side.data == MPI_IN_PLACE) return in_place_allowed(call, here, sending);
    const bool by_arrays = sending ? blocks_sent(call.kind) : blocks_received(call.kind);
    if (by_arrays && side.counts == nullptr) return false;
    return described(side, here, by_arrays);
}

/// Whether the rank reads and writes the same memory, which MPI forbids where anything is in it. Elements of different
/// types may lie beside each other.
bool aliased(const Call& call, Place here) {
    if (!sends(call, here) || !receives(call, here) || call.send.data != call.receive.data ||
        call.send.type != call.receive.type) {
        return false;
    }
    return call.receive.data != MPI_BOTTOM && message_bytes(call, here) > 0;
}

}  // namespace

bool sends(const Call& call, Place here) {
    switch (call.kind) {
        case Kind::barrier:
            return false;
        case Kind::bcast:
        case Kind::scatter:
        case Kind::scatterv:
            return here.rank == call.root;
        default:
            return true;
    }
}

bool receives(const Call& call, Place here) {
    switch (call.kind) {
        case Kind::barrier:
            return false;
        case Kind::bcast:
            return here.rank != call.root;
        case Kind::gather:
        case Kind::gatherv:
        case Kind::reduce:
            return here.rank == call.root;
        default:
            return true;
    }
}

bool plausible(const Call& call, Place here) {
    if (call.kind == Kind::barrier) return true;
    if (has_root(call.kind) && (call.root < 0 || call.root >= here.ranks)) return false;
    if (call.kind == Kind::bcast) return call.receive.data != MPI_IN_PLACE && described(call.receive, here, false);
    if (reduces(call.kind)) {
        if (call.op == MPI_OP_NULL || !described(call.receive, here, false)) return false;
        if (call.send.data == MPI_IN_PLACE && !in_place_allowed(call, here, true)) return false;
        if (call.kind == Kind::reduce_scatter && call.receive.counts == nullptr) return false;
        return (!receives(call, here) || call.receive.data != MPI_IN_PLACE) && !aliased(call, here);
    }
    return (!sends(call, here) || side_plausible(call, here, true)) &&
           (!receives(call, here) || side_plausible(call, here, false)) && !aliased(call, here);
}

std::int64_t message_bytes(const Call& call, Place here) {
    const bool at_root = here.rank == call.root;
    const auto whole = [](const Side& side) { return side.count * type_bytes(side.type); };
    const auto own = [&](const Side& side) { return side.counts[here.rank] * type_bytes(side.type); };
    const auto all = [&](const Side& side) { return sum(counts_of(side, here)) * type_bytes(side.type); };
    switch (call.kind) {
        case Kind::barrier:
            return 0;
        case Kind::gather:
            return whole(at_root ? call.receive : call.send);
        case Kind::scatter:
            return whole(at_root ? call.send : call.receive);
        case Kind::gatherv:
            return at_root ? own(call.receive) : whole(call.send);
        case Kind::scatterv:
            return at_root ? own(call.send) : whole(call.receive);
        case Kind::allgatherv:
            return own(call.receive);
        case Kind::alltoallv:
            return std::max(call.send.data == MPI_IN_PLACE ? 0 : all(call.send), all(call.receive));
        case Kind::reduce_scatter:
            return all(call.receive);
        default:
            return whole(call.receive);
    }
}

std::vector<std::int64_t> block_bytes(const Side& side, Place here) {
    const auto size = type_bytes(side.type);
    std::vector<std::int64_t> bytes;
    for (const int count : counts_of(side, here)) bytes.push_back(count * size);
    return bytes;
}

}  // namespace timpani
