#include "interpose/profile/call_table.hpp"

#include "tests/check.hpp"

namespace timpani {

namespace {

CountedCall call_of(std::uint32_t shape, int size_class, std::int64_t ns) {
    return {.key = {.name = "bcast", .shape = shape, .size_class = size_class}, .bytes = 8, .ns = ns};
}

CommunicatorShape list_of_two(std::uint64_t members) {
    return {.ranks = 2, .nodes = 1, .per_node = 2, .members = members};
}

}  // namespace

TEST(calls_of_more_keys_than_the_table_keeps_share_a_row_and_all_are_counted) {
    CallTable table;
    constexpr int kKeys = 3 * CallTable::kMaxRows;
    for (int key = 0; key < kKeys; ++key) table.add(call_of(static_cast<std::uint32_t>(key), 4, 1));
    table.add(call_of(0, 4, 1));  // a key that has a row
    const CallTable::Contents contents = table.contents();
    CHECK(contents.keys.size() == CallTable::kMaxRows + 1);
    CHECK(contents.totals.front().calls == 2);
    CHECK(contents.keys.back().name == kFurtherKinds && contents.keys.back().form == Form::blocking);
    CHECK(contents.totals.back().calls == kKeys - static_cast<int>(CallTable::kMaxRows));
    CHECK(contents.totals.back().bytes == 8 * contents.totals.back().calls);
}

TEST(communicators_of_more_lists_than_the_table_keeps_are_counted_by_their_shape) {
    CallTable table;
    std::uint32_t last = 0;
    for (std::uint64_t members = 1; members <= 3 * CallTable::kMaxLists; ++members)
        last = table.shape_number(list_of_two(members));
    const CallTable::Contents contents = table.contents();
    CHECK(contents.shapes.size() == CallTable::kMaxLists + 1);
    CHECK(contents.shapes[last].ranks == 2 && contents.shapes[last].members == 0);
    CHECK(table.shape_number(list_of_two(1)) == 1);
    for (int ranks = 3; ranks < 3 * static_cast<int>(CallTable::kMaxShapes); ++ranks)
        last = table.shape_number({.ranks = ranks});
    CHECK(last == 0 && table.contents().shapes.size() == CallTable::kMaxShapes);
}

TEST(calls_on_communicators_without_a_list_are_not_compared) {
    CallTable table;
    const std::uint32_t known = table.shape_number(list_of_two(1));
    const std::uint32_t unknown = table.shape_number(list_of_two(0));
    table.add(call_of(known, 4, 1), Needs::all);
    table.add(call_of(unknown, 4, 1), Needs::all);
    CHECK(table.contents().strata.size() == 1);
}

TEST(calls_of_two_rows_are_the_same_call_of_the_program_if_they_differ_in_what_ranks_may_do_differently) {
    CallTable table;
    const std::uint32_t shape = table.shape_number(list_of_two(1));
    for (int call = 0; call < 6; ++call) {
        CountedCall counted = call_of(shape, 4, 1);
        counted.key.in_place = call % 2 == 1;
        table.add(counted, Needs::all);
    }
    const CallTable::Contents contents = table.contents();
    CHECK(contents.totals.size() == 2 && contents.totals[0].calls == 3 && contents.totals[1].calls == 3);
    CHECK(contents.strata.size() == 1);
    const auto& calls = contents.strata.begin()->second.sample.kept_calls();
    CHECK(calls.size() == 6);
    for (const SampledCall& call : calls) CHECK(call.row == call.number % 2);
}

TEST(the_longest_blocking_calls_are_kept) {
    CallTable table;
    for (std::int64_t ns = 0; ns < 1000; ++ns) table.add(call_of(0, 4, ns * 7 % 1000));
    CountedCall started = call_of(0, 4, 5000);
    started.key.form = Form::non_blocking;
    table.add(started);
    const auto longest = table.contents().longest;
    CHECK(longest.size() == CallTable::kLongestCalls);
    for (std::size_t i = 0; i < longest.size(); ++i) CHECK(longest[i].ns == 999 - static_cast<std::int64_t>(i));
}

}  // namespace timpani
