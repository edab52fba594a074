// Broadcast over a circulant graph in the minimum number of rounds for q segments, q − 1 + ⌈log₂ p⌉. In each round
// every rank sends one segment to the rank at some distance around the ring, and receives another from the rank at that
// distance before it. The distance changes from round to round. schedule/patterns/circulant.hpp computes the segment.

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/patterns/circulant.hpp"

namespace timpani::bcast_circulant {
namespace {

Segments segments(const CollectiveArguments& args) { return Segments::of(args, args.parameters[0]); }

std::int64_t rounds(const CollectiveArguments& args) {
    return args.ranks == 1 ? 0 : segments(args).number() - 1 + ceil_log2(args.ranks);
}

void round(const CollectiveArguments& args, int rank, std::int64_t k, Steps& steps) {
    const int p = args.ranks;
    const int me = relative_rank(args, rank);
    const CirculantSchedule mine(p, me);
    const int links = mine.links();
    const std::int64_t last = segments(args).number() - 1;
    // Phases have `links` rounds. The last phase is complete. The first phase skips its first rounds, in which only
    // blocks with negative numbers would be sent.
    const std::int64_t skipped = (links - last % links) % links;
    const int link = static_cast<int>((k + skipped) % links);
    const std::int64_t phase = (k + skipped) / links;

    const auto for_segment = [&](const CirculantSchedule& schedule, auto&& step) {
        const std::int64_t block = schedule.block(link) + phase * links - skipped;
        // Block 0 is the last segment, which may be shorter. Blocks beyond the first segment repeat it.
        if (block >= 0) step(segments(args).region(data_of(args, rank), last - std::min(block, last)));
    };
    const int distance = static_cast<int>(mine.distance(link));
    const int to = (me + distance) % p;
    const int from = (me - distance + p) % p;
    if (me != 0) for_segment(mine, [&](const Region& segment) { steps.receive(absolute_rank(args, from), segment); });
    if (to != 0) {
        for_segment(CirculantSchedule(p, to),
                    [&](const Region& segment) { steps.send(absolute_rank(args, to), segment); });
    }
}

const Register entry{{
    .collective = "bcast",
    .name = "circulant",
    .source = "Träff, arXiv 2312.11236 and 2407.18004",
    .cost = "(⌈log₂ p⌉ + q − 1) (α + βm/q), q segments",
    .parameters = {segment_bytes_parameter(8192)},
    .rounds = rounds,
    .round = round,
    .claims = {.rounds = rounds,
               .max_sent = [](const CollectiveArguments& args) -> std::int64_t {
                   // The root sends each segment once, and one of full length again in each later round.
                   return args.ranks == 1 ? 0 : args.count + (ceil_log2(args.ranks) - 1) * segments(args).length;
               },
               .max_neighbors = [](const CollectiveArguments& args) -> std::int64_t {
                   // A rank receives over as many links as there are segments, and sends over all of them or all but
                   // one. With an even number of ranks, or up to 5 ranks, one link leads to the rank where another
                   // comes from.
                   const std::int64_t links = ceil_log2(args.ranks);
                   const std::int64_t same = args.ranks % 2 == 0 || args.ranks <= 5 ? 1 : 0;
                   const auto inside = std::min(segments(args).number() + links - 1, 2 * links) - same;
                   return std::max(links, std::min<std::int64_t>(inside, args.ranks - 1));
               }},
}};

}  // namespace
}  // namespace timpani::bcast_circulant
