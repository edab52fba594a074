#include "verify/symbolic_executor.hpp"

#include <algorithm>
#include <string>

#include "collectives/topology.hpp"
#include "verify/affine.hpp"
#include "verify/summands.hpp"

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

std::string at_step(const Place& place, const Step& step) {
    return "rank " + std::to_string(place.rank) + " step " + std::to_string(place.number) + " (" + show(step) + ")";
}

}  // namespace

template <typename Value>
SymbolicExecutor<Value>::SymbolicExecutor(const Algorithm& algorithm, const CollectiveArguments& args,
                                          const Schedule& schedule, WindowOrder* order)
    : args_(args),
      collective_(*find_collective(algorithm.collective)),
      order_(order),
      engine_(schedule, args.ranks, max_messages_under_way(algorithm, args), *this) {
    const auto room = [](std::int64_t elements) { return std::vector<Value>(static_cast<std::size_t>(elements)); };
    if (algorithm.window != nullptr) {
        windows_.assign(static_cast<std::size_t>(args.topology->nodes()), room(algorithm.window(args)));
    }
    ranks_.resize(static_cast<std::size_t>(args.ranks));
    for (int rank = 0; rank < args.ranks; ++rank) {
        Rank& each = at(rank);
        if (collective_.result == Result::none) {
            each.arrived.resize(static_cast<std::size_t>(args.ranks));
            each.arrived[static_cast<std::size_t>(rank)] = true;
        }
        const auto own = collective_.send_elements(args, rank);
        for (std::int64_t i = 0; i < own; ++i) {
            each.memory[0].push_back(Value::contribution_of(rank, i, args.commutative));
        }
        each.memory[1] = room(collective_.receive_elements(args, rank));
        if (algorithm.scratch != nullptr) each.memory[2] = room(algorithm.scratch(args, rank));
        if (!windows_.empty()) each.window = &windows_[static_cast<std::size_t>(args.topology->node_of(rank))];
    }
}

template <typename Value>
void SymbolicExecutor<Value>::run() {
    engine_.start();
    if (const auto stuck = engine_.stuck()) throw Mistake(at_step(stuck->place, stuck->step) + " never ends");
}

template <typename Value>
void SymbolicExecutor<Value>::check_results() {
    if (collective_.result == Result::none) check_all_arrived();
    std::map<std::int64_t, std::vector<Value>> prefixes;  // per index: contributions of ranks 0…l composed
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

template <typename Value>
void SymbolicExecutor<Value>::check_all_arrived() const {
    for (int rank = 0; rank < args_.ranks; ++rank) {
        const auto& arrived = ranks_[static_cast<std::size_t>(rank)].arrived;
        const auto missing = std::ranges::find(arrived, false);
        if (missing == arrived.end()) continue;
        throw Mistake("rank " + std::to_string(rank) + " leaves the barrier before rank " +
                      std::to_string(missing - arrived.begin()) + " has entered it");
    }
}

template <typename Value>
Value SymbolicExecutor<Value>::expected_of(const Origin& origin,
                                           std::map<std::int64_t, std::vector<Value>>& prefixes) const {
    if (origin.first_rank == origin.last_rank) {
        return Value::contribution_of(origin.first_rank, origin.index, args_.commutative);
    }
    if (origin.first_rank != 0) throw std::logic_error("sums start at rank 0");
    auto& prefix = prefixes[origin.index];
    for (auto rank = static_cast<int>(prefix.size()); rank < args_.ranks; ++rank) {
        const Value own = Value::contribution_of(rank, origin.index, args_.commutative);
        prefix.push_back(rank == 0 ? own : compose(prefix.back(), own));
    }
    return prefix[static_cast<std::size_t>(origin.last_rank)];
}

template <typename Value>
void SymbolicExecutor<Value>::check(const Place& place, const Step& step) {
    Rank& each = at(place.rank);
    const auto inside = [&](const Region& region) {
        if (region.buffer == Buffer::window && each.window == nullptr) {
            throw Mistake(at_step(place, step) + " has no window");
        }
        if (region.first < 0 || region.count < 0 ||
            region.end() > static_cast<std::int64_t>(each.buffer(region).size())) {
            throw Mistake(at_step(place, step) + " is outside its buffer");
        }
    };
    const bool message = step.is_message();
    if (message && (step.peer < 0 || step.peer >= args_.ranks || step.peer == place.rank)) {
        throw Mistake(at_step(place, step) + " has no such peer");
    }
    if (step.kind != Step::Kind::receive) inside(step.from);
    if (step.kind != Step::Kind::send) {
        inside(step.to);
        if (step.to.count > 0 && step.to.buffer == Buffer::send) {
            throw Mistake(at_step(place, step) + " writes the caller's send buffer");
        }
    }
    if (!message && step.from.overlaps(step.to)) throw Mistake(at_step(place, step) + " overlaps itself");
}

template <typename Value>
SymbolicExecutor<Value>::Note SymbolicExecutor<Value>::begin(const Place& place, std::int64_t /*round*/,
                                                             const Step& step, std::span<const std::int64_t> waited) {
    if (order_ != nullptr) check_order(place, step, waited);
    if (step.kind == Step::Kind::send) {
        read(place, step, step.from);
        return at(place.rank).arrived;
    }
    if (!step.is_message()) compute(place, step);
    return {};
}

/// Records the step, and reports an access to the window that races with another rank's.
template <typename Value>
void SymbolicExecutor<Value>::check_order(const Place& place, const Step& step, std::span<const std::int64_t> waited) {
    order_->begin(place.rank, step, waited);
    const auto ordered = [&](const Region& region, bool write) {
        if (region.buffer != Buffer::window || region.count == 0) return;
        const auto other = order_->touch(place.rank, args_.topology->node_of(place.rank), region, write);
        if (!other) return;
        throw Mistake(at_step(place, step) + " is not ordered after the access of rank " + std::to_string(*other));
    };
    if (step.kind != Step::Kind::receive) ordered(step.from, false);
    if (step.kind != Step::Kind::send) ordered(step.to, true);
}

template <typename Value>
void SymbolicExecutor<Value>::compute(const Place& place, const Step& step) {
    read(place, step, step.from);
    if (step.kind == Step::Kind::reduce) read(place, step, step.to);
    if (step.from.count != step.to.count) throw Mistake(at_step(place, step) + " has regions of different sizes");
    Rank& each = at(place.rank);
    for (std::int64_t i = 0; i < step.from.count; ++i) {
        const Value& from = each.buffer(step.from)[static_cast<std::size_t>(step.from.first + i)];
        Value& to = each.buffer(step.to)[static_cast<std::size_t>(step.to.first + i)];
        to = step.kind == Step::Kind::copy ? from : compose(from, to);
    }
}

/// Copies the data, and ends both sides.
template <typename Value>
void SymbolicExecutor<Value>::meet(int number) {
    const auto& sent_message = engine_.posted(number);
    const auto& received_message = engine_.posted(sent_message.other);
    const Place send = sent_message.place();
    const Place receive = received_message.place();
    const Step sent = sent_message.step();
    const Step received = received_message.step();
    const Note& arrived = sent_message.note;
    Rank& receiver = at(receive.rank);
    if (sent.from.count != received.to.count) {
        throw Mistake(at_step(send, sent) + " meets " + at_step(receive, received) + " of a different size");
    }
    std::copy_n(at(send.rank).buffer(sent.from).begin() + sent.from.first, sent.from.count,
                receiver.buffer(received.to).begin() + received.to.first);
    for (std::size_t i = 0; i < arrived.size(); ++i) {
        if (arrived[i]) receiver.arrived[i] = true;
    }
    if (order_ != nullptr) order_->deliver(send.rank, send.number, receive.rank, receive.number);
    engine_.end(number);
}

template <typename Value>
void SymbolicExecutor<Value>::read(const Place& place, const Step& step, const Region& region) {
    const auto& memory = at(place.rank).buffer(region);
    for (std::int64_t i = region.first; i < region.end(); ++i) {
        if (!memory[static_cast<std::size_t>(i)].written()) {
            throw Mistake(at_step(place, step) + " reads element " + std::to_string(i) + ", which was never written");
        }
    }
}

template class SymbolicExecutor<Affine>;
template class SymbolicExecutor<Summands>;

}  // namespace timpani
