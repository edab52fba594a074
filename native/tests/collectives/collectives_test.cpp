#include <algorithm>

#include "collectives/collective.hpp"
#include "tests/check.hpp"

namespace timpani {

namespace {

/// One value of `fill_from`.
std::uint64_t value_from(const Collective& collective, int ranks, const Origin& origin,
                         Combination combination = Combination::sum) {
    std::uint64_t value = 0;
    fill_from(collective, ranks, origin, {&value, 1}, combination);
    return value;
}

}  // namespace

TEST(parts_cover_the_vector_without_gap_or_overlap) {
    for (int ranks = 1; ranks <= 9; ++ranks) {
        for (std::int64_t count = 0; count <= 40; ++count) {
            std::int64_t next = 0;
            for (int rank = 0; rank < ranks; ++rank) {
                const auto part = part_of(count, ranks, rank);
                CHECK(part.first == next);
                CHECK(part.count == count / ranks || part.count == count / ranks + 1);
                next += part.count;
            }
            CHECK(next == count);
        }
    }
}

TEST(the_closed_form_is_the_sum_of_the_contributions) {
    const auto& reduce = *find_collective("allreduce");
    for (const int ranks : {1, 2, 7, 219, 220, 221, 1700}) {
        for (const std::int64_t index : {0, 1, 6, 7, 255, 4096}) {
            std::uint64_t sum = 0;
            for (int rank = 0; rank < ranks; ++rank) sum += value_from(reduce, ranks, {rank, rank, index});
            CHECK(value_from(reduce, ranks, Origin{0, ranks - 1, index}) == sum);
            CHECK(sum < 256);  // a byte holds it, so no library overflows
        }
    }
}

TEST(the_closed_forms_of_largest_and_smallest_are_those_of_the_contributions) {
    const auto& reduce = *find_collective("allreduce");
    for (const int ranks : {1, 2, 7, 220, 221}) {
        for (const std::int64_t index : {0, 1, 6, 7, 255}) {
            std::uint64_t largest = 0;
            std::uint64_t smallest = 255;
            for (int rank = 0; rank < ranks; ++rank) {
                largest = std::max(largest, value_from(reduce, ranks, {rank, rank, index}));
                smallest = std::min(smallest, value_from(reduce, ranks, {rank, rank, index}));
            }
            const Origin all{0, ranks - 1, index};
            CHECK(value_from(reduce, ranks, all, Combination::max) == largest);
            CHECK(value_from(reduce, ranks, all, Combination::min) == smallest);
        }
    }
}

TEST(a_partial_sum_is_the_difference_of_two_prefixes) {
    const auto& scan = *find_collective("scan");
    for (int first = 1; first < 12; ++first) {
        for (int last = first; last < 12; ++last) {
            const auto whole = value_from(scan, 12, Origin{0, last, 5});
            const auto before = value_from(scan, 12, Origin{0, first - 1, 5});
            CHECK(value_from(scan, 12, Origin{first, last, 5}) == whole - before);
        }
    }
}

TEST(moved_values_differ_between_neighboring_ranks_and_places) {
    const auto& gather = *find_collective("gather");
    for (int rank = 0; rank < 64; ++rank) {
        CHECK(value_from(gather, 64, {rank, rank, 9}) != value_from(gather, 64, {rank + 1, rank + 1, 9}));
        CHECK(value_from(gather, 64, {3, 3, rank}) != value_from(gather, 64, {3, 3, rank + 1}));
        CHECK(value_from(gather, 64, {3, 3, rank}) != value_from(gather, 64, {3, 3, rank + 256}));
    }
}

TEST(every_element_of_a_result_has_an_origin_within_the_sender) {
    for (const auto& collective : collectives()) {
        const CollectiveArguments args{5, 12, 2};
        for (int rank = 0; rank < args.ranks; ++rank) {
            for (std::int64_t i = 0; i < collective.receive_elements(args, rank); ++i) {
                const auto origin = collective.origin(args, rank, i);
                const bool exscan_of_rank_0 = collective.result == Result::prefix_before && rank == 0;
                CHECK(origin.has_value() != exscan_of_rank_0);
                if (!origin) continue;
                CHECK(0 <= origin->first_rank && origin->first_rank <= origin->last_rank);
                CHECK(origin->last_rank < args.ranks);
                CHECK(origin->index < collective.send_elements(args, origin->first_rank));
            }
        }
    }
}

TEST(a_run_holds_elements_that_follow_each_other_at_their_origin) {
    const std::vector<std::int64_t> blocks{3, 0, 7, 1, 1};
    std::vector<std::int64_t> pairs(25);
    for (std::size_t i = 0; i < pairs.size(); ++i) pairs[i] = static_cast<std::int64_t>(i * i % 4);
    for (const auto& collective : collectives()) {
        CollectiveArguments args{5, 12, 2};
        if (collective.counts == BlockCounts::known) args.counts = blocks;
        if (collective.counts == BlockCounts::exchanged) args.counts = pairs;
        for (int rank = 0; rank < args.ranks; ++rank) {
            const auto elements = collective.receive_elements(args, rank);
            for (std::int64_t i = 0; i < elements; ++i) {
                const auto end = collective.end_of_run(args, rank, i);
                CHECK(i < end && end <= elements);
                const auto here = collective.origin(args, rank, i);
                const auto last = collective.origin(args, rank, end - 1);
                CHECK(here.has_value() == last.has_value());
                if (!here || !last) continue;
                CHECK(here->first_rank == last->first_rank && here->last_rank == last->last_rank);
                CHECK(last->index - here->index == end - 1 - i);
            }
        }
    }
}

TEST(an_unknown_collective_is_not_found) { CHECK(find_collective("broadcast") == nullptr); }

}  // namespace timpani
