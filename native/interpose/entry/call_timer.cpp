#include "interpose/entry/call_timer.hpp"

#include <utility>

#include "interpose/call/arguments.hpp"
#include "interpose/process/process.hpp"
#include "interpose/replace/block_sizes.hpp"

namespace timpani {

namespace {

/// Invalid arguments have no size.
std::int64_t bytes_of(const InterceptedCall& call, RankInComm here) {
    if (!may_be_valid(call, here)) return 0;
    const bool known = collective_of(call.kind).counts != BlockCounts::exchanged;
    return known ? known_block_sizes(call, here).message_bytes : message_bytes(call, here);
}

/// In a broadcast or scatter ranks need the root. In a reduction to one rank or a gather, the root needs all ranks. A
/// prefix needs the ranks before; it is counted as if it needed all.
Needs needs_of(const Collective& collective) {
    if (!collective.rooted()) return Needs::all;
    return collective.send.holders == Holders::root || collective.one_buffer() ? Needs::root : Needs::all_at_root;
}

}  // namespace

CallTimer::CallTimer(std::string_view name, const void* site, const InterceptedCall* call, Communicator& communicator,
                     Form form)
    : name_(name), site_(site), call_(call), form_(form) {
    if (!counting) return;
    here_ = communicator.here();
    spans_two_groups_ = communicator.spans_two_groups();
    shape_ = communicator.shape_number();
    if (proving && call_ != nullptr && form_ == Form::blocking) {
        static thread_local SentMessages of_thread;
        of_thread.clear();
        sent_in_call = &of_thread;
    }
    setup_before_ns_ = SetupTimer::total_ns;
    entry_ns_ = Process::get().clock.now();
}

CallTimer::CallTimer(const InterceptedCall& call, Communicator& communicator, Form form)
    : CallTimer(collective_of(call.kind).name, call.site, &call, communicator, form) {}

CallTimer::CallTimer(const OtherCall& call, Communicator& communicator, Form form)
    : CallTimer(call.name, call.site, nullptr, communicator, form) {}

std::int64_t CallTimer::end(const Outcome& outcome) const {
    Process& process = Process::get();
    const std::int64_t exit_ns = process.clock.now();
    const SentMessages* const sent = proving ? std::exchange(sent_in_call, nullptr) : nullptr;
    const std::int64_t ns = exit_ns - entry_ns_ - (SetupTimer::total_ns - setup_before_ns_);
    const bool agreed = outcome.bytes >= 0;
    const bool sized = call_ != nullptr && !spans_two_groups_;  // ranks of two groups have different roles
    const Collective* const collective = call_ == nullptr ? nullptr : &collective_of(call_->kind);
    const bool known = agreed || (sized && collective->counts != BlockCounts::exchanged);
    const std::int64_t bytes = agreed ? outcome.bytes : sized ? bytes_of(*call_, here_) : 0;
    CountedCall counted{.key = {.name = name_,
                                .form = form_,
                                .shape = shape_,
                                .size_class = known ? size_class_of(bytes) : -1,
                                .algorithm = outcome.algorithm,
                                .reason = outcome.reason,
                                .site = counting_sites ? site_ : nullptr},
                        .bytes = bytes,
                        .entry_ns = entry_ns_,
                        .ns = ns};
    if (call_ != nullptr && collective->result != Result::none) {
        counted.key.in_place = call_->send.data == MPI_IN_PLACE || call_->receive.data == MPI_IN_PLACE;
        counted.key.datatype =
            datatype_class(call_->receive.type == MPI_DATATYPE_NULL ? call_->send.type : call_->receive.type);
        if (collective->reduces()) counted.key.reduction = operator_class(call_->op);
        if (collective->rooted() && here_.rank == call_->root) counted.root = here_.rank;
    }
    if (call_ == nullptr || form_ != Form::blocking) {
        process.calls.add(counted);
    } else {
        const bool library_sent = sent != nullptr && sent->complete() && !outcome.done && known;
        const ProvenCall proven = library_sent ? proven_call(*sent, bytes) : ProvenCall{};
        process.calls.add(counted, needs_of(*collective), library_sent ? &proven : nullptr);
    }
    return exit_ns;
}

ProvenCall CallTimer::proven_call(const SentMessages& sent, std::int64_t bytes) const {
    const MPI_Datatype type = call_->receive.type == MPI_DATATYPE_NULL ? call_->send.type : call_->receive.type;
    const bool has_type = collective_of(call_->kind).result != Result::none && type != MPI_DATATYPE_NULL;
    return {.sent = sent.to(),
            .bytes = bytes,
            .element_bytes = has_type ? static_cast<int>(type_bytes(type)) : 1,
            .rank = here_.rank,
            .root = collective_of(call_->kind).rooted() ? call_->root : 0};
}

MessageTimer::MessageTimer() : entry_ns_(Process::get().clock.now()) {}

std::int64_t MessageTimer::end(std::string_view name, Form form, std::int64_t bytes, std::uint32_t calls) const {
    Process& process = Process::get();
    const std::int64_t exit_ns = process.clock.now();
    const bool moves = form == Form::message;
    process.calls.add({.key = {.name = name, .form = form, .size_class = moves ? size_class_of(bytes) : -1},
                       .bytes = bytes,
                       .entry_ns = entry_ns_,
                       .ns = exit_ns - entry_ns_,
                       .calls = calls});
    return exit_ns;
}

}  // namespace timpani
