#pragma once

#include <algorithm>

#include "schedule/arithmetic.hpp"
#include "schedule/step.hpp"

namespace timpani {

/// Allreduce around a ring, with a part of the vector for each rank. The first p − 1 rounds are a reduce-scatter: in
/// round k a rank adds its own elements to part rank − k and sends it. The other p − 1 rounds are an allgather of the
/// reduced parts. Parts are sent in segments. A rank reduces a segment just before it sends it, while it receives the
/// next ones.
class RingAllreduce {
  public:
    RingAllreduce(const CollectiveArguments& args, std::int64_t segment_bytes)
        : args_(args), segments_(Segments::of(args, part_of(args.count, args.ranks, 0).count, segment_bytes)) {}

    [[nodiscard]] std::int64_t rounds() const { return std::max(1, 2 * (args_.ranks - 1)); }

    void round(int rank, std::int64_t k, Steps& steps) const {
        const int p = args_.ranks;
        if (p == 1) {
            steps.copy({Buffer::send, 0, args_.count}, {Buffer::receive, 0, args_.count});
            return;
        }
        const bool reduces = k > 0 && k < p;
        for (std::int64_t segment = 0; segment < segments_.number(); ++segment) {
            const auto of_part = [&](Buffer buffer, std::int64_t number) {
                const Part part = part_of(args_.count, p, static_cast<int>((number % p + p) % p));
                return segments_.region(region(buffer, part), segment);
            };
            const Region outgoing = of_part(k == 0 ? Buffer::send : Buffer::receive, rank - k);
            if (reduces) steps.reduce(of_part(Buffer::send, rank - k), outgoing);
            steps.receive((rank - 1 + p) % p, of_part(Buffer::receive, rank - k - 1));
            steps.send((rank + 1) % p, outgoing);
        }
    }

  private:
    const CollectiveArguments& args_;
    Segments segments_;  // of the longest part
};

/// Elements that `rank` sends: all parts but one in the reduce-scatter, and all but one in the allgather.
inline std::int64_t ring_elements_sent(std::int64_t count, int ranks, int rank) {
    if (ranks == 1) return 0;
    return 2 * count - part_of(count, ranks, (rank + 1) % ranks).count -
           part_of(count, ranks, (rank + 2) % ranks).count;
}

/// The maximum over all ranks: the last two parts are the shortest.
inline std::int64_t ring_elements_sent(const CollectiveArguments& args) {
    return ring_elements_sent(args.count, args.ranks, (2 * args.ranks - 3) % args.ranks);
}

}  // namespace timpani
