#include "verify/verify.hpp"

#include <algorithm>
#include <deque>
#include <list>
#include <map>
#include <set>
#include <stdexcept>

#include "collectives/topology.hpp"
#include "schedule/waits.hpp"
#include "verify/affine.hpp"

namespace timpani {

namespace {

/// What a run finds wrong; thrown to the one place that answers.
struct Mistake : std::runtime_error {
    using std::runtime_error::runtime_error;
};

std::string show(const Region& region) {
    const char* const names[] = {"send", "receive", "scratch"};
    return std::string(names[static_cast<std::size_t>(region.buffer)]) + "[" + std::to_string(region.first) + ", " +
           std::to_string(region.end()) + ")";
}

std::string show(const Step& step) {
    switch (step.kind) {
        case Step::Kind::send:
            return "send " + show(step.from) + " to " + std::to_string(step.peer);
        case Step::Kind::receive:
            return "receive " + show(step.to) + " from " + std::to_string(step.peer);
        case Step::Kind::copy:
            return "copy " + show(step.from) + " to " + show(step.to);
        case Step::Kind::reduce:
            return "reduce " + show(step.from) + " into " + show(step.to);
    }
    return {};
}

std::string at(int rank, std::size_t number, const Step& step) {
    return "rank " + std::to_string(rank) + " step " + std::to_string(number) + " (" + show(step) + ")";
}

/// One rank under way.
struct Rank {
    std::array<std::vector<Affine>, 3> memory;
    std::vector<Step> steps;
    std::vector<char> ended;
    Waits waits;
    std::vector<std::int64_t> waits_for;  // of the next step; valid where `looked` is true
    bool looked = false;
    std::size_t next = 0;
    std::vector<bool> heard_of;  // in a barrier: ranks that are known to have come, itself among them

    std::vector<Affine>& buffer(const Region& region) { return memory[static_cast<std::size_t>(region.buffer)]; }
};

class World {
  public:
    World(const Algorithm& algorithm, const Shape& shape, const std::vector<std::vector<Step>>& steps)
        : shape_(shape), collective_(*find_collective(algorithm.collective)) {
        ranks_.resize(static_cast<std::size_t>(shape.ranks));
        for (int rank = 0; rank < shape.ranks; ++rank) {
            Rank& each = ranks_[static_cast<std::size_t>(rank)];
            each.steps = steps[static_cast<std::size_t>(rank)];
            each.ended.resize(each.steps.size());
            each.waits = Waits(algorithm, shape);
            if (collective_.name == "barrier") {
                each.heard_of.resize(static_cast<std::size_t>(shape.ranks));
                each.heard_of[static_cast<std::size_t>(rank)] = true;
            }
            const auto own = collective_.send_elements(shape, rank);
            for (std::int64_t i = 0; i < own; ++i) {
                each.memory[0].push_back(contribution_of(rank, i, shape.commutative));
            }
            each.memory[1].resize(static_cast<std::size_t>(collective_.receive_elements(shape, rank)));
            each.memory[2].resize(
                algorithm.scratch == nullptr ? 0 : static_cast<std::size_t>(algorithm.scratch(shape, rank)));
        }
    }

    void run() {
        for (int rank = 0; rank < shape_.ranks; ++rank) ready_.push_back(rank);
        while (!ready_.empty()) {
            const int rank = ready_.front();
            ready_.pop_front();
            while (advance(rank)) {
            }
        }
        for (int rank = 0; rank < shape_.ranks; ++rank) {
            const Rank& each = ranks_[static_cast<std::size_t>(rank)];
            const auto stuck = std::ranges::find(each.ended, 0);
            if (stuck == each.ended.end()) continue;
            const auto number = static_cast<std::size_t>(stuck - each.ended.begin());
            throw Mistake(at(rank, number, each.steps[number]) + " never ends");
        }
    }

    void check_results() {
        if (collective_.name == "barrier") check_all_came();
        std::map<std::int64_t, std::vector<Affine>> prefixes;  // per index: contributions of ranks 0…l composed
        for (int rank = 0; rank < shape_.ranks; ++rank) {
            const auto& result = ranks_[static_cast<std::size_t>(rank)].memory[1];
            for (std::size_t i = 0; i < result.size(); ++i) {
                const auto origin = collective_.origin(shape_, rank, static_cast<std::int64_t>(i));
                if (origin && result[i] != expected_of(*origin, prefixes)) {
                    throw Mistake("rank " + std::to_string(rank) + " element " + std::to_string(i) +
                                  (result[i].written() ? " has a wrong value" : " was never written"));
                }
            }
        }
    }

  private:
    struct Posted {
        int rank;
        std::size_t number;
        std::vector<bool> heard_of;  // when it was posted
    };

    void check_all_came() const {
        for (int rank = 0; rank < shape_.ranks; ++rank) {
            const auto& heard_of = ranks_[static_cast<std::size_t>(rank)].heard_of;
            const auto missing = std::ranges::find(heard_of, false);
            if (missing == heard_of.end()) continue;
            throw Mistake("rank " + std::to_string(rank) + " leaves before rank " +
                          std::to_string(missing - heard_of.begin()) + " has come");
        }
    }

    Affine expected_of(const Origin& origin, std::map<std::int64_t, std::vector<Affine>>& prefixes) const {
        if (origin.first_rank == origin.last_rank) {
            return contribution_of(origin.first_rank, origin.index, shape_.commutative);
        }
        if (origin.first_rank != 0) throw std::logic_error("sums start at rank 0");
        auto& prefix = prefixes[origin.index];
        for (auto rank = static_cast<int>(prefix.size()); rank < shape_.ranks; ++rank) {
            const Affine own = contribution_of(rank, origin.index, shape_.commutative);
            prefix.push_back(rank == 0 ? own : compose(prefix.back(), own));
        }
        return prefix[static_cast<std::size_t>(origin.last_rank)];
    }

    /// Issues the next step of `rank` if nothing that it waits for is left; whether it did.
    bool advance(int rank) {
        Rank& each = ranks_[static_cast<std::size_t>(rank)];
        if (each.next == each.steps.size()) return false;
        const Step& step = each.steps[each.next];
        if (!each.looked) {
            check_regions(rank, each, step);
            each.waits_for = each.waits.add(step);
            each.looked = true;
        }
        std::erase_if(each.waits_for, [&each](std::int64_t n) { return each.ended[static_cast<std::size_t>(n)] != 0; });
        if (!each.waits_for.empty()) return false;
        each.looked = false;
        const std::size_t number = each.next++;
        issue(rank, each, number, step);
        return true;
    }

    void issue(int rank, Rank& each, std::size_t number, const Step& step) {
        switch (step.kind) {
            case Step::Kind::send:
                read(rank, each, number, step.from);
                post(sends_, receives_, {rank, step.peer}, {rank, number, each.heard_of});
                break;
            case Step::Kind::receive:
                post(receives_, sends_, {step.peer, rank}, {rank, number, {}});
                break;
            case Step::Kind::copy:
            case Step::Kind::reduce: {
                read(rank, each, number, step.from);
                if (step.kind == Step::Kind::reduce) read(rank, each, number, step.to);
                if (step.from.count != step.to.count) throw Mistake(at(rank, number, step) + " joins unequal regions");
                for (std::int64_t i = 0; i < step.from.count; ++i) {
                    const Affine& from = each.buffer(step.from)[static_cast<std::size_t>(step.from.first + i)];
                    Affine& to = each.buffer(step.to)[static_cast<std::size_t>(step.to.first + i)];
                    to = step.kind == Step::Kind::copy ? from : compose(from, to);
                }
                each.ended[number] = 1;
                break;
            }
        }
    }

    using Channel = std::pair<int, int>;                  // sender, receiver
    using Queues = std::map<Channel, std::list<Posted>>;  // lists, since most are empty most of the time

    /// Posts one side of a message; where the other side waits already, moves the data and ends both.
    void post(Queues& own, Queues& other, const Channel& channel, const Posted& posted) {
        auto& waiting = other[channel];
        if (waiting.empty()) {
            own[channel].push_back(posted);
            return;
        }
        const Posted partner = waiting.front();
        waiting.pop_front();
        const bool is_send = &own == &sends_;
        move(is_send ? posted : partner, is_send ? partner : posted);
        ready_.push_back(partner.rank);
    }

    void move(const Posted& send, const Posted& receive) {
        Rank& sender = ranks_[static_cast<std::size_t>(send.rank)];
        Rank& receiver = ranks_[static_cast<std::size_t>(receive.rank)];
        const Region& from = sender.steps[send.number].from;
        const Region& to = receiver.steps[receive.number].to;
        if (from.count != to.count) {
            throw Mistake(at(send.rank, send.number, sender.steps[send.number]) + " meets " +
                          at(receive.rank, receive.number, receiver.steps[receive.number]) + " of another size");
        }
        std::copy_n(sender.buffer(from).begin() + from.first, from.count, receiver.buffer(to).begin() + to.first);
        for (std::size_t i = 0; i < send.heard_of.size(); ++i) {
            if (send.heard_of[i]) receiver.heard_of[i] = true;
        }
        sender.ended[send.number] = 1;
        receiver.ended[receive.number] = 1;
    }

    void check_regions(int rank, Rank& each, const Step& step) const {
        const auto check = [&](const Region& region) {
            if (region.first < 0 || region.count < 0 ||
                region.end() > static_cast<std::int64_t>(each.buffer(region).size())) {
                throw Mistake(at(rank, each.next, step) + " leaves its buffer");
            }
        };
        const bool message = step.is_message();
        if (message && (step.peer < 0 || step.peer >= shape_.ranks || step.peer == rank)) {
            throw Mistake(at(rank, each.next, step) + " has no such peer");
        }
        if (step.kind != Step::Kind::receive) check(step.from);
        if (step.kind != Step::Kind::send) {
            check(step.to);
            if (step.to.count > 0 && step.to.buffer == Buffer::send) {
                throw Mistake(at(rank, each.next, step) + " writes the caller's send buffer");
            }
        }
        if (!message && step.from.overlaps(step.to)) throw Mistake(at(rank, each.next, step) + " overlaps itself");
    }

    void read(int rank, Rank& each, std::size_t number, const Region& region) const {
        const auto& memory = each.buffer(region);
        for (std::int64_t i = region.first; i < region.end(); ++i) {
            if (!memory[static_cast<std::size_t>(i)].written()) {
                throw Mistake(at(rank, number, each.steps[number]) + " reads element " + std::to_string(i) +
                              ", which nobody wrote");
            }
        }
    }

    Shape shape_;
    const Collective& collective_;
    std::vector<Rank> ranks_;
    std::deque<int> ready_;
    Queues sends_;
    Queues receives_;
};

}  // namespace

std::vector<Step> steps_of(const Algorithm& algorithm, const Shape& shape, int rank) {
    Steps steps;
    const auto rounds = algorithm.rounds(shape);
    for (std::int64_t round = 0; round < rounds; ++round) algorithm.round(shape, rank, round, steps);
    return steps.all();
}

std::optional<std::string> find_mistake(const Algorithm& algorithm, const Shape& shape,
                                        const std::vector<std::vector<Step>>& steps) {
    try {
        World world(algorithm, shape, steps);
        world.run();
        world.check_results();
    } catch (const Mistake& mistake) {
        return mistake.what();
    }
    return std::nullopt;
}

std::optional<std::string> find_mistake(const Algorithm& algorithm, const Shape& shape) {
    std::vector<std::vector<Step>> steps;
    for (int rank = 0; rank < shape.ranks; ++rank) steps.push_back(steps_of(algorithm, shape, rank));
    return find_mistake(algorithm, shape, steps);
}

std::optional<std::string> find_false_claim(const Algorithm& algorithm, const Shape& shape) {
    const auto rounds = algorithm.rounds(shape);
    std::vector<char> busy(static_cast<std::size_t>(rounds));
    std::int64_t most_sent = 0;
    std::int64_t most_neighbours = 0;
    std::vector<std::int64_t> leaving(shape.topology == nullptr ? 0 : static_cast<std::size_t>(shape.ranks));
    Steps steps;
    for (int rank = 0; rank < shape.ranks; ++rank) {
        std::int64_t sent = 0;
        std::set<int> neighbours;
        for (std::int64_t round = 0; round < rounds; ++round) {
            steps.clear();
            algorithm.round(shape, rank, round, steps);
            for (const Step& step : steps.all()) {
                if (step.peer < 0) continue;
                busy[static_cast<std::size_t>(round)] = 1;
                neighbours.insert(step.peer);
                if (step.kind != Step::Kind::send) continue;
                sent += step.from.count;
                if (leaving.empty()) continue;
                const int node = shape.topology->node_of(rank);
                if (shape.topology->node_of(step.peer) != node) {
                    leaving[static_cast<std::size_t>(node)] += step.from.count;
                }
            }
        }
        most_sent = std::max(most_sent, sent);
        most_neighbours = std::max(most_neighbours, static_cast<std::int64_t>(neighbours.size()));
    }
    using Claim = std::int64_t (*)(const Shape&);
    const auto differs = [&](const char* what, Claim claim, std::int64_t found) -> std::optional<std::string> {
        if (claim == nullptr || claim(shape) == found) return std::nullopt;
        return std::string(what) + " claimed " + std::to_string(claim(shape)) + ", found " + std::to_string(found);
    };
    const Claims& claims = algorithm.claims;
    auto wrong = differs("rounds:", claims.rounds, std::ranges::count(busy, 1));
    if (!wrong) wrong = differs("elements sent by one rank:", claims.most_sent, most_sent);
    if (!wrong) wrong = differs("neighbours:", claims.most_neighbours, most_neighbours);
    if (!wrong && !leaving.empty()) {
        wrong = differs("elements leaving one node:", claims.most_leaving_node, std::ranges::max(leaving));
    }
    return wrong;
}

}  // namespace timpani
