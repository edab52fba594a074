#include "interpose/call/arguments.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "interpose/world/world.hpp"

namespace timpani {

namespace {

using NamedOperator = std::pair<MPI_Op, std::string_view>;

/// nullptr: an operator of the program.
const NamedOperator* find_predefined(MPI_Op op) {
    static const std::array<NamedOperator, 13> known{{{MPI_SUM, "sum"},
                                                      {MPI_MAX, "max"},
                                                      {MPI_MIN, "min"},
                                                      {MPI_PROD, "prod"},
                                                      {MPI_LAND, "land"},
                                                      {MPI_BAND, "band"},
                                                      {MPI_LOR, "lor"},
                                                      {MPI_BOR, "bor"},
                                                      {MPI_LXOR, "lxor"},
                                                      {MPI_BXOR, "bxor"},
                                                      {MPI_MAXLOC, "maxloc"},
                                                      {MPI_MINLOC, "minloc"},
                                                      {MPI_OP_NULL, ""}}};
    const auto* const found = std::ranges::find(known, op, &NamedOperator::first);
    return found == known.end() ? nullptr : found;
}

// Whether the MPI library accepts arguments, by its own checks. They are passed to a call on a communicator of this
// rank alone that returns errors and moves no data. Libraries check different things. Returns true before MPI starts.

/// It refuses an operator that MPI does not define for the type, and the operators of one-sided calls.
bool library_accepts(const void* data, std::int64_t count, MPI_Datatype type) {
    static thread_local MPI_Datatype accepted = MPI_DATATYPE_NULL;  // the predefined type that was last checked
    if (data != nullptr && count >= 0 && type == accepted && type != MPI_DATATYPE_NULL) return true;
    const World* const world = World::get();
    if (world == nullptr) return true;
    const auto elements = static_cast<int>(std::min<std::int64_t>(count, std::numeric_limits<int>::max()));
    if (PMPI_Send(data, elements, type, MPI_PROC_NULL, 0, world->alone()) != MPI_SUCCESS) return false;
    if (predefined_type(type)) accepted = type;
    return true;
}

bool library_accepts(MPI_Op op, MPI_Datatype type) {
    static thread_local MPI_Op accepted_op = MPI_OP_NULL;  // likewise, both predefined
    static thread_local MPI_Datatype accepted_type = MPI_DATATYPE_NULL;
    if (op == accepted_op && type == accepted_type && op != MPI_OP_NULL) return true;
    if (op == MPI_REPLACE || op == MPI_NO_OP) return false;
    const World* const world = World::get();
    if (world == nullptr) return true;
    char sent = 0;
    char received = 0;
    if (PMPI_Allreduce(&sent, &received, 0, type, op, world->alone()) != MPI_SUCCESS) return false;
    if (predefined_op(op) && predefined_type(type)) {
        accepted_op = op;
        accepted_type = type;
    }
    return true;
}

/// Elements of the largest block.
std::int64_t max_elements(const BufferArguments& buffer, RankInComm here) {
    std::int64_t maximum = buffer.count;
    for (int rank = 0; buffer.counts.given() && rank < here.ranks; ++rank)
        maximum = std::max(maximum, buffer.counts[rank]);
    return maximum;
}

/// Elements of all blocks together.
std::int64_t elements_of(const BufferArguments& buffer, RankInComm here) {
    std::int64_t all = 0;
    for (int rank = 0; buffer.counts.given() && rank < here.ranks; ++rank) all += buffer.counts[rank];
    return all;
}

bool described(const BufferArguments& buffer, RankInComm here, bool with_displacements) {
    if (buffer.type == MPI_DATATYPE_NULL || buffer.count < 0) return false;
    for (int rank = 0; buffer.counts.given() && rank < here.ranks; ++rank) {
        if (buffer.counts[rank] < 0) return false;
    }
    return !with_displacements || buffer.displacements.given() || max_elements(buffer, here) == 0;
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

/// Whether the library checks buffers and types that are only received into: MPICH everywhere, Open MPI in all-to-alls.
/// If the root passed a call to the library because of such a buffer, the other ranks would not.
bool checks_receive_buffers([[maybe_unused]] const Collective& collective) {
#ifdef MPICH_VERSION
    return true;
#else
    return collective.receive.content == Content::pairs;
#endif
}

bool buffer_may_be_valid(const InterceptedCall& call, RankInComm here, bool sending) {
    const BufferArguments& buffer = sending ? call.send : call.receive;
    if (buffer.data == MPI_IN_PLACE) return in_place_allowed(call, here, sending);
    const Collective& collective = collective_of(call.kind);
    const bool arrays = collective.by_arrays(sending ? collective.send : collective.receive);
    if (arrays && !buffer.counts.given()) return false;
    if (!described(buffer, here, arrays)) return false;
    const bool checked = sending || collective.one_buffer() || checks_receive_buffers(collective);
    return !checked || library_accepts(buffer.data, max_elements(buffer, here), buffer.type);
}

bool in_parts(const InterceptedCall& call) { return collective_of(call.kind).receive.content == Content::part; }

/// Elements of this rank's result of a reduction: its part may be empty although other ranks' parts are not.
std::int64_t result_elements(const InterceptedCall& call, RankInComm here) {
    return in_parts(call) ? call.receive.counts[here.rank] : call.receive.count;
}

bool reduction_may_be_valid(const InterceptedCall& call, RankInComm here) {
    const Collective& collective = collective_of(call.kind);
    const BufferArguments& result = call.receive;
    if (call.op == MPI_OP_NULL || !described(result, here, false)) return false;
    if (in_parts(call) && !result.counts.given()) return false;
    if (!library_accepts(call.op, result.type)) return false;
    const bool operand_accepted = call.send.data == MPI_IN_PLACE
                                      ? in_place_allowed(call, here, true)
                                      : library_accepts(call.send.data, max_elements(result, here), result.type);
    // MPICH also checks rank 0's result of an exscan, which nothing is received into.
    const bool has_result =
        checks_receive_buffers(collective) ? collective.receive.used_by(here.rank, call.root) : receives(call, here);
    if (!operand_accepted || (has_result && result.data == MPI_IN_PLACE)) return false;
    return !receives(call, here) || !checks_receive_buffers(collective) ||
           library_accepts(result.data, result_elements(call, here), result.type);
}

/// Whether the library refuses a call with one buffer for both: MPICH everywhere, Open MPI in these two collectives. A
/// call that the library accepts must not be passed to it on some ranks only.
bool refuses_one_buffer(CollectiveKind kind) {
#ifdef MPICH_VERSION
    return kind != CollectiveKind::barrier;
#else
    return kind == CollectiveKind::allreduce || kind == CollectiveKind::reduce;
#endif
}

/// The buffer whose arguments give the amount of data that a call moves. At the root it is the buffer that only the
/// root has, since the other may be in place; else the buffer that every rank has. A reduction's type and count are in
/// its result.
const BufferArguments& describing_buffer(const InterceptedCall& call, RankInComm here) {
    const Collective& collective = collective_of(call.kind);
    const bool from_root = collective.send.holders == Holders::root && here.rank == call.root;
    const bool received = receives(call, here) && !from_root;
    return received || collective.reduces() || collective.one_buffer() ? call.receive : call.send;
}

}  // namespace

bool predefined_op(MPI_Op op) { return find_predefined(op) != nullptr; }

std::string_view operator_class(MPI_Op op) {
    if (const NamedOperator* const found = find_predefined(op)) return found->second;
    int commutes = 0;
    return PMPI_Op_commutative(op, &commutes) == MPI_SUCCESS && commutes == 0 ? "user_ordered" : "user";
}

std::string_view datatype_class(MPI_Datatype type) {
    static const std::array<std::pair<MPI_Datatype, std::string_view>, 28> known{
        {{MPI_DOUBLE, "double"},
         {MPI_FLOAT, "float"},
         {MPI_BYTE, "uint8"},
         {MPI_CHAR, "int8"},
         {MPI_SIGNED_CHAR, "int8"},
         {MPI_UNSIGNED_CHAR, "uint8"},
         {MPI_INT8_T, "int8"},
         {MPI_UINT8_T, "uint8"},
         {MPI_INT, "int32"},
         {MPI_INT32_T, "int32"},
         {MPI_UNSIGNED, "uint32"},
         {MPI_UINT32_T, "uint32"},
         {MPI_LONG, "int64"},
         {MPI_LONG_LONG, "int64"},
         {MPI_INT64_T, "int64"},
         {MPI_UNSIGNED_LONG, "uint64"},
         {MPI_UNSIGNED_LONG_LONG, "uint64"},
         {MPI_UINT64_T, "uint64"},
         {MPI_SHORT, "int16"},
         {MPI_UNSIGNED_SHORT, "uint16"},
         {MPI_LONG_DOUBLE, "long_double"},
         {MPI_C_FLOAT_COMPLEX, "complex"},
         {MPI_C_DOUBLE_COMPLEX, "double_complex"},
         {MPI_DOUBLE_PRECISION, "double"},
         {MPI_REAL, "float"},
         {MPI_INTEGER, "int32"},
         {MPI_DOUBLE_COMPLEX, "double_complex"},
         {MPI_DATATYPE_NULL, ""}}};
    const auto* const found = std::ranges::find(known, type, &std::pair<MPI_Datatype, std::string_view>::first);
    if (found != known.end()) return found->second;
    return predefined_type(type) ? "other" : "derived";
}

std::int64_t type_bytes(MPI_Datatype type) {
    MPI_Count size = 0;
    PMPI_Type_size_x(type, &size);
    return size;
}

bool sends(const InterceptedCall& call, RankInComm here) {
    return collective_of(call.kind).send.used_by(here.rank, call.root);
}

bool receives(const InterceptedCall& call, RankInComm here) {
    const Collective& collective = collective_of(call.kind);
    if (collective.result == Result::prefix_before && here.rank == 0) return false;  // rank 0 has no rank before it
    return collective.receive.used_by(here.rank, call.root);
}

bool aliased(const InterceptedCall& call, RankInComm here) {
    const Collective& collective = collective_of(call.kind);
    const bool both = sends(call, here) && collective.receive.used_by(here.rank, call.root);
    if (!both || call.send.data != call.receive.data) return false;
    if (!collective.reduces() && call.send.type != call.receive.type) return false;
    if (in_parts(call) && result_elements(call, here) == 0) return false;
    if (collective.by_arrays(collective.send) && collective.by_arrays(collective.receive) &&
        (elements_of(call.send, here) == 0 || elements_of(call.receive, here) == 0))
        return false;
    return call.receive.data != MPI_BOTTOM && message_bytes(call, here) > 0;
}

bool may_be_valid(const InterceptedCall& call, RankInComm here) {
    const Collective& collective = collective_of(call.kind);
    if (collective.result == Result::none) return true;
    if (collective.rooted() && (call.root < 0 || call.root >= here.ranks)) return false;
    if (collective.reduces()) {
        if (!reduction_may_be_valid(call, here)) return false;
    } else if (collective.one_buffer()) {
        if (call.receive.data == MPI_IN_PLACE || !buffer_may_be_valid(call, here, false)) return false;
    } else if ((sends(call, here) && !buffer_may_be_valid(call, here, true)) ||
               (receives(call, here) && !buffer_may_be_valid(call, here, false))) {
        return false;
    }
    return collective.one_buffer() || !refuses_one_buffer(call.kind) || !aliased(call, here);
}

std::int64_t message_bytes(const InterceptedCall& call, RankInComm here) {
    const Collective& collective = collective_of(call.kind);
    if (collective.result == Result::none) return 0;
    const auto all = [&](const BufferArguments& buffer) { return elements_of(buffer, here) * type_bytes(buffer.type); };
    if (in_parts(call)) return all(call.receive);
    if (collective.by_arrays(collective.send) && collective.by_arrays(collective.receive)) {
        return std::max(call.send.data == MPI_IN_PLACE ? 0 : all(call.send), all(call.receive));
    }
    const BufferArguments& buffer = describing_buffer(call, here);
    return (!buffer.counts.given() ? buffer.count : buffer.counts[here.rank]) * type_bytes(buffer.type);
}

std::optional<std::int64_t> message_bytes_if_valid(const InterceptedCall& call, RankInComm here) {
    const Collective& collective = collective_of(call.kind);
    const bool arrays = collective.by_arrays(collective.send) || collective.by_arrays(collective.receive);
    if (arrays || in_parts(call)) return {};
    const BufferArguments& buffer = describing_buffer(call, here);
    if (!described(buffer, here, false) || !library_accepts(nullptr, 0, buffer.type)) return {};
    return message_bytes(call, here);
}

std::vector<std::int64_t> block_bytes(const BufferArguments& buffer, RankInComm here) {
    const auto size = type_bytes(buffer.type);
    std::vector<std::int64_t> bytes;
    for (int rank = 0; rank < here.ranks; ++rank) bytes.push_back(buffer.counts[rank] * size);
    return bytes;
}

}  // namespace timpani
