#include "verify/symbolic_executor.hpp"

#include <algorithm>
#include <string>

#include "collectives/topology.hpp"

namespace timpani {

namespace {

std::string show(const Region& region) {
    const char* const names[] = {"send", "receive", "scratch", "window"};
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

std::string at_step(int rank, std::size_t number, const Step& step) {
    return "rank " + std::to_string(rank) + " step " + std::to_string(number) + " (" + show(step) + ")";
}

}  // namespace

SymbolicExecutor::SymbolicExecutor(const Algorithm& algorithm, const CollectiveArguments& args,
                                   const std::vector<std::vector<Step>>& steps, WindowOrder* order)
    : args_(args), collective_(*find_collective(algorithm.collective)), order_(order) {
    const auto room = [](std::int64_t elements) { return std::vector<Affine>(static_cast<std::size_t>(elements)); };
    if (algorithm.window != nullptr) {
        windows_.assign(static_cast<std::size_t>(args.topology->nodes()), room(algorithm.window(args)));
    }
    ranks_.resize(static_cast<std::size_t>(args.ranks));
    for (int rank = 0; rank < args.ranks; ++rank) {
        Rank& each = at(rank);
        each.steps = steps[static_cast<std::size_t>(rank)];
        each.ended.resize(each.steps.size());
        each.dependencies = DependencyTracker(algorithm, args);
        if (collective_.result == Result::none) {
            each.arrived.resize(static_cast<std::size_t>(args.ranks));
            each.arrived[static_cast<std::size_t>(rank)] = true;
        }
        const auto own = collective_.send_elements(args, rank);
        for (std::int64_t i = 0; i < own; ++i) {
            each.memory[0].push_back(contribution_of(rank, i, args.commutative));
        }
        each.memory[1] = room(collective_.receive_elements(args, rank));
        if (algorithm.scratch != nullptr) each.memory[2] = room(algorithm.scratch(args, rank));
        if (!windows_.empty()) each.window = &windows_[static_cast<std::size_t>(args.topology->node_of(rank))];
    }
}

void SymbolicExecutor::run() {
    for (int rank = 0; rank < args_.ranks; ++rank) ready_.push_back(rank);
    while (!ready_.empty()) {
        const int rank = ready_.front();
        ready_.pop_front();
        while (advance(rank)) {
        }
    }
    for (int rank = 0; rank < args_.ranks; ++rank) {
        const Rank& each = at(rank);
        const auto stuck = std::ranges::find(each.ended, 0);
        if (stuck == each.ended.end()) continue;
        const auto number = static_cast<std::size_t>(stuck - each.ended.begin());
        throw Mistake(at_step(rank, number, each.steps[number]) + " never ends");
    }
}

void SymbolicExecutor::check_results() {
    if (collective_.result == Result::none) check_all_arrived();
    std::map<std::int64_t, std::vector<Affine>> prefixes;  // per index: contributions of ranks 0…l composed
    for (int rank = 0; rank < args_.ranks; ++rank) {
        const auto& result = at(rank).memory[1];
        for (std::size_t i = 0; i < result.size(); ++i) {
            const auto origin = collective_.origin(args_, rank, static_cast<std::int64_t>(i));
            if (origin && result[i] != expected_of(*origin, prefixes)) {
                throw Mistake("rank " + std::to_string(rank) + " element " + std::to_string(i) +
                              (result[i].written() ? " has a wrong value" : " was never written"));
            }
        }
    }
}

void SymbolicExecutor::check_all_arrived() const {
    for (int rank = 0; rank < args_.ranks; ++rank) {
        const auto& arrived = ranks_[static_cast<std::size_t>(rank)].arrived;
        const auto missing = std::ranges::find(arrived, false);
        if (missing == arrived.end()) continue;
        throw Mistake("rank " + std::to_string(rank) + " leaves before rank " +
                      std::to_string(missing - arrived.begin()) + " has come");
    }
}

Affine SymbolicExecutor::expected_of(const Origin& origin,
                                     std::map<std::int64_t, std::vector<Affine>>& prefixes) const {
    if (origin.first_rank == origin.last_rank) {
        return contribution_of(origin.first_rank, origin.index, args_.commutative);
    }
    if (origin.first_rank != 0) throw std::logic_error("sums start at rank 0");
    auto& prefix = prefixes[origin.index];
    for (auto rank = static_cast<int>(prefix.size()); rank < args_.ranks; ++rank) {
        const Affine own = contribution_of(rank, origin.index, args_.commutative);
        prefix.push_back(rank == 0 ? own : compose(prefix.back(), own));
    }
    return prefix[static_cast<std::size_t>(origin.last_rank)];
}

/// Issues the next step of `rank` if nothing that it waits for is left; whether it did.
bool SymbolicExecutor::advance(int rank) {
    Rank& each = at(rank);
    if (each.next == each.steps.size()) return false;
    const Step& step = each.steps[each.next];
    if (!each.depends_on) {
        check_regions(rank, each, step);
        each.depends_on = each.dependencies.add(step);
    }
    const auto ended = [&each](std::int64_t earlier) { return each.ended[static_cast<std::size_t>(earlier)] != 0; };
    if (!std::ranges::all_of(*each.depends_on, ended)) return false;
    const std::size_t number = each.next++;
    if (order_ != nullptr) check_order(rank, number, step, *each.depends_on);
    each.depends_on.reset();
    issue(rank, each, number, step);
    return true;
}

/// Notes the step, and refuses one whose access to the window races with another rank's.
void SymbolicExecutor::check_order(int rank, std::size_t number, const Step& step,
                                   std::span<const std::int64_t> waited) {
    order_->begin(rank, step, waited);
    const auto check = [&](const Region& region, bool write) {
        if (region.buffer != Buffer::window || region.count == 0) return;
        const auto other = order_->touch(rank, args_.topology->node_of(rank), region, write);
        if (!other) return;
        throw Mistake(at_step(rank, number, step) + " is not ordered behind what rank " + std::to_string(*other) +
                      " does there");
    };
    if (step.kind != Step::Kind::receive) check(step.from, false);
    if (step.kind != Step::Kind::send) check(step.to, true);
}

void SymbolicExecutor::issue(int rank, Rank& each, std::size_t number, const Step& step) {
    switch (step.kind) {
        case Step::Kind::send:
            read(rank, each, number, step.from);
            post(sends_, receives_, {rank, step.peer}, {rank, number, each.arrived});
            break;
        case Step::Kind::receive:
            post(receives_, sends_, {step.peer, rank}, {rank, number, {}});
            break;
        case Step::Kind::copy:
        case Step::Kind::reduce: {
            read(rank, each, number, step.from);
            if (step.kind == Step::Kind::reduce) read(rank, each, number, step.to);
            if (step.from.count != step.to.count) {
                throw Mistake(at_step(rank, number, step) + " has regions of different sizes");
            }
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

/// Posts one side of a message; where the other side waits already, moves the data and ends both.
void SymbolicExecutor::post(Queues& own, Queues& other, const Channel& channel, const Posted& posted) {
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

void SymbolicExecutor::move(const Posted& send, const Posted& receive) {
    Rank& sender = at(send.rank);
    Rank& receiver = at(receive.rank);
    const Region& from = sender.steps[send.number].from;
    const Region& to = receiver.steps[receive.number].to;
    if (from.count != to.count) {
        throw Mistake(at_step(send.rank, send.number, sender.steps[send.number]) + " meets " +
                      at_step(receive.rank, receive.number, receiver.steps[receive.number]) + " of another size");
    }
    std::copy_n(sender.buffer(from).begin() + from.first, from.count, receiver.buffer(to).begin() + to.first);
    for (std::size_t i = 0; i < send.arrived.size(); ++i) {
        if (send.arrived[i]) receiver.arrived[i] = true;
    }
    if (order_ != nullptr) {
        order_->deliver(send.rank, static_cast<std::int64_t>(send.number), receive.rank,
                        static_cast<std::int64_t>(receive.number));
    }
    sender.ended[send.number] = 1;
    receiver.ended[receive.number] = 1;
}

void SymbolicExecutor::check_regions(int rank, Rank& each, const Step& step) const {
    const auto check = [&](const Region& region) {
        if (region.buffer == Buffer::window && each.window == nullptr) {
            throw Mistake(at_step(rank, each.next, step) + " has no window");
        }
        if (region.first < 0 || region.count < 0 ||
            region.end() > static_cast<std::int64_t>(each.buffer(region).size())) {
            throw Mistake(at_step(rank, each.next, step) + " is outside its buffer");
        }
    };
    const bool message = step.is_message();
    if (message && (step.peer < 0 || step.peer >= args_.ranks || step.peer == rank)) {
        throw Mistake(at_step(rank, each.next, step) + " has no such peer");
    }
    if (step.kind != Step::Kind::receive) check(step.from);
    if (step.kind != Step::Kind::send) {
        check(step.to);
        if (step.to.count > 0 && step.to.buffer == Buffer::send) {
            throw Mistake(at_step(rank, each.next, step) + " writes the caller's send buffer");
        }
    }
    if (!message && step.from.overlaps(step.to)) throw Mistake(at_step(rank, each.next, step) + " overlaps itself");
}

void SymbolicExecutor::read(int rank, Rank& each, std::size_t number, const Region& region) const {
    const auto& memory = each.buffer(region);
    for (std::int64_t i = region.first; i < region.end(); ++i) {
        if (!memory[static_cast<std::size_t>(i)].written()) {
            throw Mistake(at_step(rank, number, each.steps[number]) + " reads element " + std::to_string(i) +
                          ", which nobody wrote");
        }
    }
}

}  // namespace timpani
