#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "simulate/queues.hpp"
#include "tests/check.hpp"
#include "tests/one_rank.hpp"
#include "verify/affine.hpp"

namespace {

using namespace timpani;

/// Pseudorandom numbers, the same in every run.
class Random {
  public:
    /// Less than `below`.
    int any(int below) { return static_cast<int>(scramble(drawn_++) % static_cast<unsigned>(below)); }

  private:
    std::uint64_t drawn_ = 0;
};

Step random_step(Random& random, int room) {
    const auto any = [&](int below) { return random.any(below); };
    const auto region = [&] { return Region{static_cast<Buffer>(any(3)), any(room), 1 + any(4)}; };
    switch (any(3)) {
        case 0:
            return {Step::Kind::send, 1, region(), {}};
        case 1:
            return {Step::Kind::receive, 1, {}, region()};
        default:
            return {Step::Kind::copy, -1, region(), region()};
    }
}

}  // namespace

TEST(a_step_waits_for_the_messages_that_share_data_with_it_whether_few_are_under_way_or_many) {
    Random random;
    for (const int room : {6, 40, 400}) {  // more room means more messages under way at once
        OneRank rank(1'000'000);
        std::vector<std::pair<std::int64_t, Step>> under_way;
        std::size_t maximum = 0;
        for (std::int64_t number = 0; number < 2'000; ++number) {
            const Step step = random_step(random, room);
            std::vector<std::int64_t> expected;
            for (const auto& [other, message] : under_way) {
                if (share_data(message, step)) expected.push_back(other);
            }
            std::erase_if(under_way, [&](const auto& each) { return share_data(each.second, step); });
            CHECK(rank.take(step) == expected);
            if (step.is_message()) under_way.emplace_back(number, step);
            maximum = std::max(maximum, under_way.size());
        }
        CHECK(room < 400 || maximum > 32);
    }
}

TEST(the_oldest_message_is_waited_for_at_the_bound) {
    for (const std::int64_t bound : {2, 40}) {
        OneRank rank(bound);
        for (std::int64_t number = 0; number < 2 * bound; ++number) {
            const auto found = rank.take({Step::Kind::send, 1, {Buffer::send, 0, 1}, {}});
            CHECK(found.size() == (number < bound ? 0 : 1));
            CHECK(number < bound || found.front() == number - bound);
        }
    }
}

TEST(the_k_th_send_of_a_channel_meets_its_k_th_receive_whether_few_wait_or_many) {
    for (const int peers : {3, 50}) {
        OneRank rank(1'000'000);
        for (std::int64_t k = 0; k < 3; ++k) {
            for (int peer = 1; peer <= peers; ++peer)
                rank.take({Step::Kind::send, peer, {Buffer::send, k, 1}, {}}, false);
        }
        for (int peer = 1; peer <= peers; ++peer) {
            CHECK(rank.meet(Step::Kind::receive, peer) < 0);
            for (std::int64_t k = 0; k < 3; ++k) {
                CHECK(rank.meet(Step::Kind::send, peer) == k * peers + peer - 1);
            }
            CHECK(rank.meet(Step::Kind::send, peer) < 0);
        }
    }
}

TEST(items_come_in_order_those_added_while_others_are_taken_too) {
    Random random;
    InOrder<int> items;
    for (int i = 0; i < 500; ++i) items.add(random.any(1'000));
    int last = 0;
    int taken = 0;
    for (; !items.empty(); ++taken) {
        const int item = items.take();
        CHECK(item >= last);
        CHECK(items.ahead(3) == nullptr || *items.ahead(3) >= item);
        last = item;
        if (taken < 300) items.add(item + random.any(500));
    }
    CHECK(taken == 800);
}

TEST(pairing_heaps_of_the_same_items_give_each_its_own_in_order) {
    constexpr int kItems = 300;
    Random random;
    std::vector<int> values;
    for (int item = 0; item < kItems; ++item) values.push_back(random.any(100));
    std::vector<PairingLinks> links(kItems);
    const auto at = [](auto& of, int item) -> auto& { return of[static_cast<std::size_t>(item)]; };
    const PairingHeaps heaps([&](int item) -> PairingLinks& { return at(links, item); },
                             [&](int one, int other) { return at(values, one) < at(values, other); });
    std::vector<int> first{-1, -1};
    const auto add = [&](int item) {
        int& own = at(first, item % 2);
        own = own < 0 ? item : heaps.merged(own, item);
    };
    for (int item = 0; item < kItems; ++item) add(item);
    for (int heap = 0; heap < 2; ++heap) {
        int taken = 0;
        int last = 0;
        for (int item = at(first, heap); item >= 0; item = at(first, heap)) {
            at(first, heap) = heaps.without(item);
            CHECK(item % 2 == heap && at(values, item) >= last);
            CHECK(at(links, item).child < 0 && at(links, item).sibling < 0);
            last = at(values, item);
            if (++taken % 3 != 0) continue;
            at(values, item) = last + random.any(100);  // removed items may be added again
            add(item);
        }
        CHECK(taken > kItems / 2);
    }
}

TEST(a_radix_heap_gives_items_by_time) {
    Random random;
    const auto delay = [&random] { return random.any(10'000) / 1e3; };
    RadixHeap<double> heap;
    for (int i = 0; i < 100; ++i) heap.add(delay(), 0);
    double last = 0;
    int taken = 0;
    for (; !heap.empty(); ++taken) {
        const double time = heap.earliest();
        CHECK(time >= last);
        last = time;
        heap.take();
        if (taken < 1'000) heap.add(taken % 3 == 0 ? time : time + delay(), 0);
    }
    CHECK(taken == 1'100);
}

TEST(a_radix_heap_gives_items_of_one_time_in_order_and_shows_them_in_advance) {
    RadixHeap<int> heap;
    for (int i = 0; i < 10; ++i) heap.add(7, i);
    heap.add(8, 10);
    CHECK(heap.earliest() == 7);
    for (int i = 0; i < 10; ++i) {
        CHECK(i + 3 < 10 ? *heap.ahead(3) == i + 3 : heap.ahead(3) == nullptr);
        CHECK(heap.take() == i);
    }
    CHECK(!heap.any_left() && heap.earliest() == 8);
}
