#include "simulate/goal.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <unordered_map>

#include "schedule/engine/waiting_steps.hpp"

namespace timpani {

namespace {

/// The text of one rank: millions of short lines, for which stream formatting would be too slow.
class RankText {
  public:
    explicit RankText(std::int64_t element_bytes) : element_bytes_(element_bytes) {}

    void begin(int rank) {
        text_ = "\nrank ";
        add(rank);
        text_ += " {\n";
        sent_.clear();
        received_.clear();
        last_is_local_ = false;
    }
    void add(const WaitingStep& each) {
        const auto [place, round, step, waited] = each;
        add_label(place.number);
        text_ += ": ";
        switch (step.kind) {
            case Step::Kind::send:
                add_message("send ", step.from, " to ", step.peer, sent_);
                break;
            case Step::Kind::receive:
                add_message("recv ", step.to, " from ", step.peer, received_);
                break;
            case Step::Kind::copy:
            case Step::Kind::reduce:
                text_ += "calc ";
                add(step.from.count * element_bytes_);
                text_ += '\n';
        }
        const bool waits_for_last = !waited.empty() && waited.back() == place.number - 1;
        if (place.number > 0 && !waits_for_last) {
            add_order(place.number, last_is_local_ ? " requires " : " irequires ", place.number - 1);
        }
        for (const auto number : waited) add_order(place.number, " requires ", number);
        last_is_local_ = !step.is_message();
    }
    const std::string& end() { return text_ += "}\n"; }

  private:
    using Counted = std::unordered_map<int, int>;  // messages by peer

    void add(std::int64_t number) {
        char digits[20];
        text_.append(digits, std::to_chars(std::begin(digits), std::end(digits), number).ptr);
    }
    void add_label(std::int64_t number) {
        text_ += 'l';
        add(number + 1);
    }
    void add_message(const char* what, const Region& region, const char* with, int peer, Counted& counted) {
        text_ += what;
        add(std::max<std::int64_t>(region.count * element_bytes_, 1));
        text_ += 'b';
        text_ += with;
        add(peer);
        text_ += " tag ";
        add(counted[peer]++);
        text_ += '\n';
    }
    void add_order(std::int64_t later, const char* how, std::int64_t earlier) {
        add_label(later);
        text_ += how;
        add_label(earlier);
        text_ += '\n';
    }

    std::int64_t element_bytes_;
    std::string text_;
    Counted sent_;
    Counted received_;
    bool last_is_local_ = false;
};

}  // namespace

void write_goal(const Algorithm& algorithm, const CollectiveArguments& args, std::ostream& out) {
    const auto schedule = prepare(algorithm, args);
    const auto bound = max_messages_under_way(algorithm, args);
    RankText text(args.element_bytes);
    out << "num_ranks " << args.ranks << '\n';
    for (int rank = 0; rank < args.ranks && out; ++rank) {
        text.begin(rank);
        for_each_waiting_step(*schedule, rank, bound, [&](const WaitingStep& each) { text.add(each); });
        out << text.end();
    }
}

}  // namespace timpani
