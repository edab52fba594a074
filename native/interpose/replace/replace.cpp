#include "interpose/replace/replace.hpp"

#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include <algorithm>
#include <array>
#include <exception>
#include <limits>
#include <memory>
#include <new>
#include <string_view>

#include "execute/elements.hpp"
#include "execute/execution.hpp"
#include "execute/rank_and_size.hpp"
#include "interpose/call/arguments.hpp"
#include "interpose/call/device_memory.hpp"
#include "interpose/communicator/communicator.hpp"
#include "interpose/process/process.hpp"
#include "interpose/profile/call_site.hpp"
#include "interpose/replace/block_sizes.hpp"
#include "interpose/replace/packed_buffer.hpp"
#include "interpose/world/world.hpp"

namespace timpani {

namespace {

int blocks_of(const CollectiveBuffers& buffers, int ranks) { return buffers.in_blocks() ? ranks : 1; }

/// Runs a collective that moves data by `execution`, which moves bytes. Returns MPI's error code.
int move_data(const InterceptedCall& call, const Communicator& communicator, Execution& execution) {
    const RankInComm here = communicator.here();
    const Collective& collective = collective_of(call.kind);
    const BufferArguments& sent = collective.one_buffer() ? call.receive : call.send;
    const bool send_in_place = sends(call, here) && sent.data == MPI_IN_PLACE;
    const bool receive_in_place = receives(call, here) && call.receive.data == MPI_IN_PLACE;
    PackedBuffer from = sends(call, here) && !send_in_place
                            ? PackedBuffer(sent, blocks_of(collective.send, here.ranks), call.comm)
                            : PackedBuffer();
    PackedBuffer to = receives(call, here) && !receive_in_place
                          ? PackedBuffer(call.receive, blocks_of(collective.receive, here.ranks), call.comm)
                          : PackedBuffer();
    if (aliased(call, here)) from.detach();
    int error = from.pack();
    // In place, a rank's contribution lies where its result will be.
    if (send_in_place) error = collective.send.content == Content::pairs ? to.pack() : to.pack(here.rank);
    if (error != MPI_SUCCESS) return error;
    error = execution(send_in_place ? MPI_IN_PLACE : from.bytes(), receive_in_place ? MPI_IN_PLACE : to.bytes());
    return error == MPI_SUCCESS ? to.unpack() : error;
}

/// Whether this rank knows that `comm` was revoked (MPIX_Comm_revoke). MPI's collectives return an error there, even
/// without the launcher's fault tolerance. MPICH 4 and 5 end a program that revokes.
inline bool is_revoked([[maybe_unused]] MPI_Comm comm) {
    int revoked = 0;
#ifdef OMPI_HAVE_MPI_EXT_FTMPI
    if (is_linked(&MPIX_Comm_is_revoked)) MPIX_Comm_is_revoked(comm, &revoked);
#endif
    return revoked != 0;
}

constexpr std::string_view kArguments = "arguments";

/// Open MPI 5.0's windows corrupt memory if several threads use them, also in a program without this library.
bool windows_take_threads() {
#ifdef OMPI_MAJOR_VERSION
    static const bool take = [] {
        std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> version{};
        int length = 0;
        PMPI_Get_library_version(version.data(), &length);
        return !std::string_view(version.data()).starts_with("Open MPI v5.0.");
    }();
    return take;
#else
    return true;
#endif
}

bool has_negative_extent(MPI_Datatype type) {
    MPI_Aint lower = 0;
    MPI_Aint extent = 0;
    PMPI_Type_get_extent(type, &lower, &extent);
    return extent < 0;
}

/// Timpani's reduce-scatters divide the vector as evenly as whole elements allow.
bool has_even_parts(const InterceptedCall& call, RankInComm here, std::int64_t elements) {
    for (int rank = 0; rank < here.ranks; ++rank) {
        if (call.receive.counts[rank] != part_of(elements, here.ranks, rank).count) return false;
    }
    return true;
}

/// One call and the rule that matches it.
class Replacement {
  public:
    Replacement(const InterceptedCall& call, Communicator& communicator, const Rule& rule, const BlockSizes& sizes)
        : call_(call),
          collective_(collective_of(call.kind)),
          communicator_(communicator),
          rule_(rule),
          moves_data_(!collective_.reduces()) {
        const RankInComm here = communicator.here();
        key_ = {&rule, sizes.message_bytes, collective_.rooted() ? call.root : 0, MPI_BYTE, MPI_OP_NULL, sizes.counts};
        if (!sizes.counts.empty()) key_.count = 0;  // the blocks' sizes replace it
        if (!moves_data_) {
            key_.type = call.receive.type;
            key_.op = call.op;
            key_.count = call.receive.count;
            for (int r = 0; in_parts() && r < here.ranks; ++r) key_.count += call.receive.counts[r];
        }
        args_ = {.ranks = here.ranks,
                 .count = key_.count,
                 .root = key_.root,
                 .commutative = commutes(key_.op),
                 .counts = sizes.counts,
                 .topology = communicator.topology(),
                 .known_rank = sizes.known_rank};
        std::ranges::copy(rule.parameters, args_.parameters.begin());
        largest_packed_ = moves_data_ ? sizes.max_block_bytes : type_bytes(key_.type);
    }

    /// Why the library's algorithm must run, the same on all ranks; empty: the rule's algorithm can run.
    [[nodiscard]] std::string_view fallback_reason() const {
        if (largest_packed_ > std::numeric_limits<int>::max()) return "too large";
        if (!moves_data_ && has_negative_extent(key_.type)) return "elements that lie backwards";
        const std::string_view refusal = rule_.algorithm->restrictions.refusal(args_);
        if (!refusal.empty()) return refusal;
        // All ranks make a window together, so not for each call, and its elements have one layout for all.
        if (rule_.algorithm->window != nullptr && !cacheable())
            return "shared memory takes predefined types and operators";
        if (rule_.algorithm->window != nullptr && World::get()->threads() && !windows_take_threads())
            return "shared memory under threads crashes in Open MPI 5.0";
        if (in_parts() && !has_even_parts(call_, communicator_.here(), args_.count)) return "unequal parts";
        return {};
    }

    int run() {
        if (cacheable()) {
            Execution* cached = communicator_.plans().find(key_);
            if (cached == nullptr) cached = communicator_.plans().insert(key_, make());
            return run(*cached);
        }
        return run(*make());
    }

  private:
    [[nodiscard]] bool in_parts() const { return collective_.receive.content == Content::part; }
    [[nodiscard]] bool cacheable() const { return predefined_type(key_.type) && predefined_op(key_.op); }
    [[nodiscard]] std::unique_ptr<Execution> make() const {
        const SetupTimer clock("plan");
        const ReturnedErrors returned(communicator_.comm());  // windows are created from it
        return std::make_unique<Execution>(*rule_.algorithm, args_, communicator_.channel(), key_.type, key_.op);
    }

    int run(Execution& execution) const {
        if (moves_data_) return move_data(call_, communicator_, execution);
        // At ranks that receive nothing the argument is not significant: a program may pass any address.
        const RankInComm here = communicator_.here();
        const void* const sent = aliased(call_, here) ? MPI_IN_PLACE : call_.send.data;
        const bool used = sent == MPI_IN_PLACE || receives(call_, here);
        return execution(sent, used ? call_.receive.data : nullptr);
    }

    const InterceptedCall& call_;
    const Collective& collective_;
    Communicator& communicator_;
    const Rule& rule_;
    bool moves_data_;
    PlanKey key_{};
    CollectiveArguments args_{};
    std::int64_t largest_packed_ = 0;  // maximum bytes that MPI packs in one call, or in an element of a reduction
};

/// The first rule for calls of that kind that `matches`; nullptr: the library's choice.
template <typename Matches>
const Rule* find_rule(const Communicator& communicator, CollectiveKind kind, const Matches& matches) {
    const auto rules = communicator.rules(kind);
    const auto first = std::ranges::find_if(rules, matches);
    return first == rules.end() || !(*first)->replaces() ? nullptr : *first;
}

/// The rule for calls of that kind and size from any place of the program.
const Rule* find_rule_for_size(const Communicator& communicator, CollectiveKind kind, std::int64_t bytes) {
    return find_rule(communicator, kind,
                     [&](const Rule* rule) { return rule->site.empty() && rule->bytes.contains(bytes); });
}

/// The rule for calls of that kind at every size from any place.
const Rule* find_rule_for_every_size(const Communicator& communicator, CollectiveKind kind) {
    const Rule* const rule = find_rule(communicator, kind, [](const Rule* each) { return each->site.empty(); });
    return rule != nullptr && rule->bytes.is_unbounded() ? rule : nullptr;
}

constexpr int kLibraryChooses = -1;
constexpr int kInvalidArguments = -2;

/// Whether all ranks have the same number. MPI's error code is in `error`, and the program's handler has handled it.
bool agrees(const Communicator& communicator, int number, int& error) {
    const std::array<int, 2> own{number, -number};
    std::array<int, 2> largest{};
    error = PMPI_Allreduce(own.data(), largest.data(), 2, MPI_INT, MPI_MAX, communicator.comm());
    return error == MPI_SUCCESS && largest[0] == -largest[1];
}

struct AgreedRule {
    int error = MPI_SUCCESS;
    const Rule* rule = nullptr;
    bool same = false;  // all ranks' rules say the same
};

/// The rule for a call where rules name places in the program. Ranks may call from different places, so they compare
/// what their rules say. If these are different algorithms, only rules without a place decide.
AgreedRule agree_on_rule(const InterceptedCall& call, const Communicator& communicator, std::int64_t bytes) {
    const auto rules = communicator.rules(call.kind);
    const std::string& site = known_site_text(call.site);
    const Rule* const own = find_rule(communicator, call.kind, [&](const Rule* rule) {
        return rule->bytes.contains(bytes) && (rule->site.empty() || rule->site == site);
    });
    // The first rule with its algorithm stands for all of them.
    const auto first =
        std::ranges::find_if(rules, [&](const Rule* rule) { return own != nullptr && rule->same_algorithm(*own); });
    const int number = own == nullptr ? kLibraryChooses : static_cast<int>(first - rules.begin());
    AgreedRule agreed;
    agreed.same = agrees(communicator, number, agreed.error);
    if (agreed.error != MPI_SUCCESS) return agreed;
    if (!agreed.same) agreed.rule = find_rule_for_size(communicator, call.kind, bytes);
    if (agreed.same && own != nullptr) agreed.rule = *first;
    return agreed;
}

/// Sets up, on a rank whose arguments are invalid, what ranks with valid arguments set up for the rule of their call:
/// they would wait for this rank there. In MPI they may not have to: a rank that only sends does not wait for the root.
void set_up_for_others(const InterceptedCall& call, Communicator& communicator) {
    communicator.locate();
    int error = MPI_SUCCESS;  // ignored: MPI reports this rank's own error
    if (communicator.names_sites(call.kind)) agrees(communicator, kInvalidArguments, error);
    const auto bytes = message_bytes_if_valid(call, communicator.here());
    const Rule* const rule =
        bytes ? find_rule_for_size(communicator, call.kind, *bytes) : find_rule_for_every_size(communicator, call.kind);
    if (rule == nullptr) return;
    if (!rule->chooses_in_library()) {
        communicator.open_channel();
    } else if (!World::get()->threads() && communicator.can_choose(*rule, error)) {
        communicator.library_communicator(*rule);
    }
}

Outcome failed(const Communicator& communicator, int error) {
    PMPI_Comm_call_errhandler(communicator.comm(), error);
    return {.done = true, .error = error};
}

/// Lets the library run the algorithm of `rule`.
Outcome choose_in_library(const Rule& rule, Communicator& communicator, Outcome outcome) {
    if (World::get()->threads()) {
        outcome.reason = "control variables hold for all threads";
        return outcome;
    }
    int error = MPI_SUCCESS;
    if (communicator.can_choose(rule, error)) {
        outcome.comm = communicator.library_communicator(rule);
        outcome.controls = &rule.at_call;
        outcome.algorithm = rule.text;
    } else if (error != MPI_SUCCESS) {
        return failed(communicator, error);
    } else {
        outcome.reason = "control variables";
    }
    return outcome;
}

}  // namespace

Outcome replace(const InterceptedCall& call, Communicator& communicator) try {
    const Collective& collective = collective_of(call.kind);
    const bool exchanged = collective.counts == BlockCounts::exchanged;
    if (is_revoked(call.comm)) return {.reason = "revoked"};
    const bool arguments_valid = may_be_valid(call, communicator.here());
    if (!arguments_valid && !exchanged) {
        set_up_for_others(call, communicator);
        return {.reason = kArguments};
    }
    BlockSizes sizes;
    if (!exchanged) {
        sizes = known_block_sizes(call, communicator.here());
        // A rank with invalid arguments may not know the size, and agrees on the rule all the same.
        if (!communicator.may_replace(call.kind, sizes.message_bytes) && !communicator.names_sites(call.kind))
            return {.bytes = sizes.message_bytes};
    }
    communicator.locate();
    if (!communicator.may_replace(call.kind)) return {};
    if (exchanged) {
        sizes = exchange_block_sizes(call, communicator, arguments_valid);
        if (sizes.error != MPI_SUCCESS) return {.done = true, .error = sizes.error};  // MPI has called the handler
        if (!sizes.valid) return {.reason = kArguments};
    }
    Outcome outcome{.bytes = sizes.message_bytes};
    const Rule* rule = nullptr;
    if (communicator.names_sites(call.kind)) {
        const AgreedRule agreed = agree_on_rule(call, communicator, outcome.bytes);
        if (agreed.error != MPI_SUCCESS) return {.done = true, .error = agreed.error};  // MPI has called the handler
        if (!agreed.same && agreed.rule == nullptr) outcome.reason = "ranks call from different places";
        rule = agreed.rule;
    } else {
        rule = find_rule_for_size(communicator, call.kind, outcome.bytes);
    }
    if (rule == nullptr) return outcome;
    if (rule->chooses_in_library()) return choose_in_library(*rule, communicator, outcome);
    if (const int error = communicator.open_channel(); error != MPI_SUCCESS) return failed(communicator, error);
    if (!communicator.has_channel()) {
        outcome.reason = "no tags are left";
        return outcome;
    }
    Replacement replacement(call, communicator, *rule, sizes);
    outcome.reason = replacement.fallback_reason();
    if (!outcome.reason.empty()) return outcome;
    if (communicator.has_devices()) {
        int anywhere = in_device_memory(call) ? 1 : 0;
        const int error = PMPI_Allreduce(MPI_IN_PLACE, &anywhere, 1, MPI_INT, MPI_MAX, communicator.comm());
        if (error != MPI_SUCCESS) return {.done = true, .error = error};  // MPI has called the handler
        if (anywhere != 0) {
            if (communicator.here().rank == 0)
                Process::get().warn_once("calls with buffers in a GPU's memory are left to MPI");
            outcome.reason = "device memory";
            return outcome;
        }
    }
    try {
        outcome.error = replacement.run();
    } catch (const NoSharedMemory&) {
        communicator.disable_shared_memory();
        outcome.reason = "no shared memory";
        return outcome;
    }
    outcome.done = true;
    outcome.algorithm = rule->text;
    if (outcome.error != MPI_SUCCESS) PMPI_Comm_call_errhandler(communicator.comm(), outcome.error);
    return outcome;
} catch (const std::bad_alloc&) {
    return failed(communicator, MPI_ERR_NO_MEM);
} catch (const std::exception&) {  // no exception may pass through the program's frames, which may be C's
    return failed(communicator, MPI_ERR_INTERN);
}

}  // namespace timpani
