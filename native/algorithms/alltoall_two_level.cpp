// All-to-all over two levels. For each other node, one rank of a node is the agent. The ranks of the node send the
// agent their blocks for that node. The agents of the two nodes exchange these in one message. Then the agent sends
// each rank of its node the blocks for it. Short blocks cross the network in n² messages instead of p².

#include <algorithm>
#include <map>
#include <span>

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/patterns/closed_forms.hpp"
#include "schedule/patterns/hierarchy.hpp"

namespace timpani::alltoall_two_level {
namespace {

/// The steps of one rank. A bundle is the blocks from the ranks of one node to those of another, or one rank's share of
/// them.
class Exchange {
  public:
    Exchange(const CollectiveArguments& args, int rank)
        : args_(args), topology_(*args.topology), rank_(rank), node_(topology_.node_of(rank)) {
        for (int other = 0; other < topology_.nodes(); ++other) {
            if (other == node_) continue;
            const auto self = std::span(&rank_, 1);
            const auto here = topology_.ranks_of(node_);
            const auto there = topology_.ranks_of(other);
            Bundles& each = bundles_[other];
            each.packed = take(bundle(self, there));
            each.unpacked = take(bundle(there, self));
            if (agent(node_, other) != rank_) continue;
            each.outgoing = take(bundle(here, there));
            each.incoming = take(bundle(there, here));
            each.sorted = take(each.incoming.count);
        }
    }

    [[nodiscard]] std::int64_t scratch() const { return taken_; }

    /// Round 0: an all-to-all inside the node; the blocks that leave the node go to the agents.
    void send_to_agents(Steps& steps) const {
        for (const int peer : topology_.ranks_of(node_)) {
            if (peer == rank_) {
                steps.copy(sent_to(peer), received_from(peer));
            } else {
                steps.receive(peer, received_from(peer));
                steps.send(peer, sent_to(peer));
            }
        }
        for (const auto& [other, each] : bundles_) {
            Region next = each.packed;
            for (const int peer : topology_.ranks_of(other))
                steps.copy(sent_to(peer), take_front(next, sent_to(peer).count));
            if (agent(node_, other) != rank_) {
                steps.send(agent(node_, other), each.packed);
                continue;
            }
            Region place = each.outgoing;
            for (const int from : topology_.ranks_of(node_)) {
                const Region share = take_front(place, bundle({&from, 1}, topology_.ranks_of(other)));
                if (from == rank_) {
                    steps.copy(each.packed, share);
                } else {
                    steps.receive(from, share);
                }
            }
        }
    }

    /// Round 1: agents exchange bundles.
    void exchange_bundles(Steps& steps) const {
        for (const auto& [other, each] : bundles_) {
            if (agent(node_, other) != rank_) continue;
            steps.receive(agent(other, node_), each.incoming);
            steps.send(agent(other, node_), each.outgoing);
        }
    }

    /// Round 2: agents send the ranks of their node the blocks that arrived for them.
    void send_to_receivers(Steps& steps) const {
        for (const auto& [other, each] : bundles_) {
            if (agent(node_, other) == rank_) sort_and_send(other, each, steps);
            if (agent(node_, other) != rank_) steps.receive(agent(node_, other), each.unpacked);
            Region next = each.unpacked;
            for (const int peer : topology_.ranks_of(other)) {
                steps.copy(take_front(next, received_from(peer).count), received_from(peer));
            }
        }
    }

  private:
    struct Bundles {
        Region packed;    // from this rank, receiver by receiver
        Region unpacked;  // for this rank, sender by sender
        Region outgoing;  // at the agent: by sender, receiver
        Region incoming;  // by sender, receiver
        Region sorted;    // by receiver, sender
    };

    /// The rank of `node` that exchanges with `other`: its ranks alternate.
    [[nodiscard]] int agent(int node, int other) const {
        const auto ranks = topology_.ranks_of(node);
        return ranks[static_cast<std::size_t>(other) % ranks.size()];
    }
    [[nodiscard]] Region sent_to(int peer) const {
        const auto block = pair_block_of(args_, rank_, peer);
        return {Buffer::send, block.at_sender, block.count};
    }
    [[nodiscard]] Region received_from(int peer) const {
        const auto block = pair_block_of(args_, peer, rank_);
        return {Buffer::receive, block.at_receiver, block.count};
    }
    /// Number of elements from all of `senders` to all of `receivers`.
    [[nodiscard]] std::int64_t bundle(std::span<const int> senders, std::span<const int> receivers) const {
        std::int64_t elements = 0;
        for (const int sender : senders) {
            for (const int receiver : receivers) elements += pair_block_of(args_, sender, receiver).count;
        }
        return elements;
    }
    Region take(std::int64_t elements) {
        taken_ += elements;
        return {Buffer::scratch, taken_ - elements, elements};
    }
    /// Removes the first elements from `region` and returns them.
    static Region take_front(Region& region, std::int64_t elements) {
        const Region cut{region.buffer, region.first, elements};
        region.first += elements;
        region.count -= elements;
        return cut;
    }

    /// Sorts an incoming bundle, which is ordered by sender and then by receiver, and sends each receiver its share.
    void sort_and_send(int other, const Bundles& each, Steps& steps) const {
        std::map<int, Region> shares;  // by receiver: what is not filled yet
        Region place = each.sorted;
        for (const int to : topology_.ranks_of(node_)) {
            shares[to] = take_front(place, bundle(topology_.ranks_of(other), {&to, 1}));
        }
        const auto whole = shares;
        Region next = each.incoming;
        for (const int from : topology_.ranks_of(other)) {
            for (const int to : topology_.ranks_of(node_)) {
                const auto count = pair_block_of(args_, from, to).count;
                steps.copy(take_front(next, count), take_front(shares[to], count));
            }
        }
        for (const auto& [to, share] : whole) {
            if (to == rank_) {
                steps.copy(share, each.unpacked);
            } else {
                steps.send(to, share);
            }
        }
    }

    const CollectiveArguments& args_;
    const Topology& topology_;
    int rank_;
    int node_;
    std::map<int, Bundles> bundles_;  // by the other node
    std::int64_t taken_ = 0;
};

void round(const CollectiveArguments& args, int rank, std::int64_t k, Steps& steps) {
    const Exchange exchange(args, rank);
    if (k == 0) exchange.send_to_agents(steps);
    if (k == 1) exchange.exchange_bundles(steps);
    if (k == 2) exchange.send_to_receivers(steps);
}

const RegisterWithV entry{{
    .collective = "alltoall",
    .name = "two_level",
    .source = "Träff, Rougier, EuroMPI 2014",
    .cost = "(2p/n + n) α + 3βm, n nodes, m from each rank",
    .restrictions = {.topology = true},
    .rounds = always<3>,
    .round = round,
    .scratch = [](const CollectiveArguments& args, int rank) { return Exchange(args, rank).scratch(); },
    .claims = {.max_leaving_node = blocks_leaving_node},
}};

}  // namespace
}  // namespace timpani::alltoall_two_level
