#include "interpose/profile/sent_messages.hpp"

#include "tests/check.hpp"

namespace timpani {

TEST(segments_to_one_peer_are_added_up_in_whatever_order_they_are_sent) {
    SentMessages sent;
    sent.add(3, 100);
    sent.add(3, 100);
    sent.add(5, 7);
    sent.add(3, 20);
    CHECK(sent.to().size() == 2);
    CHECK(sent.to()[0].peer == 3 && sent.to()[0].messages == 3 && sent.to()[0].bytes == 220);
    CHECK(sent.to()[1].peer == 5 && sent.to()[1].messages == 1 && sent.to()[1].bytes == 7);
    CHECK(sent.complete());
}

TEST(an_empty_message_counts) {
    SentMessages sent;
    sent.add(0, 0);
    CHECK(sent.to().size() == 1 && sent.to()[0].messages == 1 && sent.to()[0].bytes == 0);
}

TEST(peers_beyond_the_last_make_a_call_incomplete_but_not_the_counts_of_known_peers) {
    SentMessages sent;
    for (std::size_t peer = 0; peer < SentMessages::kMaxPeers; ++peer) sent.add(static_cast<int>(peer), 1);
    CHECK(sent.complete());
    sent.add(0, 1);
    CHECK(sent.complete() && sent.to()[0].messages == 2);
    sent.add(static_cast<int>(SentMessages::kMaxPeers), 1);
    CHECK(!sent.complete());
    CHECK(sent.to().size() == SentMessages::kMaxPeers);
    sent.add(1, 4);
    CHECK(sent.to()[1].messages == 2 && sent.to()[1].bytes == 5);
    CHECK(!sent.complete());
}

TEST(the_next_call_starts_from_nothing) {
    SentMessages sent;
    for (std::size_t peer = 0; peer <= SentMessages::kMaxPeers; ++peer) sent.add(static_cast<int>(peer), 1);
    sent.clear();
    CHECK(sent.to().empty() && sent.complete());
    sent.add(2, 9);
    CHECK(sent.to().size() == 1 && sent.to()[0].bytes == 9);
}

TEST(messages_are_counted_only_inside_a_call) { CHECK(sent_in_call == nullptr); }

}  // namespace timpani
