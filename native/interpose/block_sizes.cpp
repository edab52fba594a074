#include "interpose/block_sizes.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace timpani {

namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();  // bytes that no rank has

std::int64_t sum(const std::vector<std::int64_t>& bytes) {
    return std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0});
}

/// Blocks of one rank each: in the root's buffer, or in all.
BlockSizes one_a_rank(std::vector<std::int64_t> counts) {
    const auto all = sum(counts);
    const auto ranks = static_cast<std::int64_t>(counts.size());
    return {.counts = std::move(counts), .message_bytes = all / ranks, .most_at_a_rank = all};
}

/// An all-to-all without scratch has nowhere to keep blocks that it passes on.
bool any_passes_blocks_on(Kind kind, const Communicator& communicator) {
    return std::ranges::any_of(communicator.rules(kind), [](const Rule* rule) {
        return rule->algorithm != nullptr && rule->algorithm->scratch != nullptr;
    });
}

BlockSizes pairs(const Call& call, const Communicator& communicator, bool arguments_hold) {
    const Place here = communicator.here();
    const auto ranks = static_cast<std::size_t>(here.ranks);
    std::vector<std::int64_t> received(ranks);
    std::vector<std::int64_t> sent(ranks);
    if (arguments_hold) {
        received = block_bytes(call.receive, here);
        sent = call.send.data == MPI_IN_PLACE ? received : block_bytes(call.send, here);
    }
    BlockSizes sizes;
    if (any_passes_blocks_on(call.kind, communicator)) {
        sizes.counts.resize(ranks * ranks);
        sizes.error = PMPI_Allgather(sent.data(), here.ranks, MPI_INT64_T, sizes.counts.data(), here.ranks, MPI_INT64_T,
                                     communicator.own());
    } else {
        sizes.known_rank = here.rank;
        sizes.counts = sent;
        sizes.counts.insert(sizes.counts.end(), received.begin(), received.end());
    }
    if (sizes.error != MPI_SUCCESS) return sizes;
    const std::int64_t most = arguments_hold ? std::max(sum(sent), sum(received)) : kNever;
    sizes.error = PMPI_Allreduce(&most, &sizes.most_at_a_rank, 1, MPI_INT64_T, MPI_MAX, communicator.own());
    sizes.message_bytes = sizes.most_at_a_rank / here.ranks;
    sizes.agreed = sizes.most_at_a_rank != kNever;
    return sizes;
}

}  // namespace

BlockSizes agree_on_blocks(const Call& call, const Communicator& communicator, bool arguments_hold) {
    const Collective& collective = collective_of(call.kind);
    if (collective.send.content == Content::pairs) return pairs(call, communicator, arguments_hold);
    if (collective.counts == BlockCounts::told) return one_a_rank(block_bytes(call.receive, communicator.here()));
    const std::int64_t own = arguments_hold ? message_bytes(call, communicator.here()) : kNever;
    std::vector<std::int64_t> counts(static_cast<std::size_t>(communicator.here().ranks));
    const int error = PMPI_Allgather(&own, 1, MPI_INT64_T, counts.data(), 1, MPI_INT64_T, communicator.own());
    if (error != MPI_SUCCESS) return {.error = error};
    if (std::ranges::find(counts, kNever) != counts.end()) return {.agreed = false};
    return one_a_rank(std::move(counts));
}

}  // namespace timpani
