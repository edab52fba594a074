#include "interpose/replace/block_sizes.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

namespace timpani {

namespace {

constexpr std::int64_t kInvalid = std::numeric_limits<std::int64_t>::max();  // more bytes than any rank has

std::int64_t sum(const std::vector<std::int64_t>& bytes) {
    return std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0});
}

/// Blocks of one rank each, in the root's buffer or in all.
BlockSizes one_block_per_rank(std::vector<std::int64_t> counts) {
    const std::int64_t mean = sum(counts) / static_cast<std::int64_t>(counts.size());
    const std::int64_t largest = std::ranges::max(counts);
    return {.counts = std::move(counts), .message_bytes = mean, .max_block_bytes = largest};
}

/// An all-to-all without scratch can't store blocks to forward them.
bool any_forwards_blocks(CollectiveKind kind, const Communicator& communicator) {
    return std::ranges::any_of(communicator.rules(kind), [](const Rule* rule) {
        return rule->algorithm != nullptr && rule->algorithm->scratch != nullptr;
    });
}

BlockSizes exchange_pair_sizes(const InterceptedCall& call, const Communicator& communicator, bool arguments_valid) {
    const RankInComm here = communicator.here();
    const auto ranks = static_cast<std::size_t>(here.ranks);
    std::vector<std::int64_t> received(ranks);
    std::vector<std::int64_t> sent(ranks);
    if (arguments_valid) {
        received = block_bytes(call.receive, here);
        sent = call.send.data == MPI_IN_PLACE ? received : block_bytes(call.send, here);
    }
    BlockSizes sizes;
    if (any_forwards_blocks(call.kind, communicator)) {
        sizes.counts.resize(ranks * ranks);
        sizes.error = PMPI_Allgather(sent.data(), here.ranks, MPI_INT64_T, sizes.counts.data(), here.ranks, MPI_INT64_T,
                                     communicator.comm());
    } else {
        sizes.known_rank = here.rank;
        sizes.counts = sent;
        sizes.counts.insert(sizes.counts.end(), received.begin(), received.end());
    }
    if (sizes.error != MPI_SUCCESS) return sizes;
    const std::array<std::int64_t, 2> own{
        arguments_valid ? std::max(sum(sent), sum(received)) : kInvalid,
        std::max(std::ranges::max(sent), std::ranges::max(received)),
    };
    std::array<std::int64_t, 2> maximum{};
    sizes.error = PMPI_Allreduce(own.data(), maximum.data(), 2, MPI_INT64_T, MPI_MAX, communicator.comm());
    sizes.message_bytes = maximum[0] / here.ranks;
    sizes.max_block_bytes = maximum[1];
    sizes.valid = maximum[0] != kInvalid;
    return sizes;
}

}  // namespace

BlockSizes known_block_sizes(const InterceptedCall& call, RankInComm here) {
    const Collective& collective = collective_of(call.kind);
    if (collective.counts == BlockCounts::known) return one_block_per_rank(block_bytes(call.receive, here));
    const auto bytes = message_bytes(call, here);
    return {.message_bytes = bytes, .max_block_bytes = bytes};
}

BlockSizes exchange_block_sizes(const InterceptedCall& call, const Communicator& communicator, bool arguments_valid) {
    const Collective& collective = collective_of(call.kind);
    if (collective.send.content == Content::pairs) return exchange_pair_sizes(call, communicator, arguments_valid);
    const std::int64_t own = arguments_valid ? message_bytes(call, communicator.here()) : kInvalid;
    std::vector<std::int64_t> counts(static_cast<std::size_t>(communicator.here().ranks));
    const int error = PMPI_Allgather(&own, 1, MPI_INT64_T, counts.data(), 1, MPI_INT64_T, communicator.comm());
    if (error != MPI_SUCCESS) return {.error = error};
    if (std::ranges::find(counts, kInvalid) != counts.end()) return {.valid = false};
    return one_block_per_rank(std::move(counts));
}

}  // namespace timpani
