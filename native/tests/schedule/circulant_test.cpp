#include "schedule/patterns/circulant.hpp"

#include <algorithm>
#include <set>

#include "tests/check.hpp"

namespace {

using namespace timpani;

/// The baseblock of `rank`, which rank 0 sends in the first phase and the rank receives in it: the only one that is not
/// negative.
int own_block(const CirculantSchedule& schedule) {
    int own = -1;
    for (int k = 0; k < schedule.links(); ++k) own = std::max(own, schedule.block(k));
    return own;
}

/// The two conditions that make schedules of all ranks fit together (Träff, arXiv 2407.18004).
void check_rank(int ranks, int rank) {
    const CirculantSchedule schedule(ranks, rank);
    const int links = schedule.links();
    const int own = own_block(schedule);
    std::set<int> received;
    for (int k = 0; k < links; ++k) {
        const int to = static_cast<int>((rank + schedule.distance(k)) % ranks);
        if (to != 0) {
            const int sent = CirculantSchedule(ranks, to).block(k);
            CHECK(rank == 0 ? sent == k : received.contains(sent) || sent == own - links);
        }
        received.insert(schedule.block(k));
    }
    if (rank == 0) return;
    std::set<int> wanted{own};
    for (int block = -links; block < 0; ++block) {
        if (block != own - links) wanted.insert(block);
    }
    CHECK(received == wanted);
}

}  // namespace

TEST(circulant_schedules_bring_each_block_once_and_send_only_what_is_there) {
    for (int ranks = 1; ranks <= 200; ++ranks) {
        for (int rank = 0; rank < ranks; ++rank) check_rank(ranks, rank);
    }
    for (const int ranks : {1'000'003, 1 << 20, (1 << 20) + 1}) {
        for (int rank = 0; rank < ranks; rank += 9973) check_rank(ranks, rank);
    }
}
