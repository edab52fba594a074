#include "execute/program.hpp"

#include <algorithm>

#include "schedule/dependencies.hpp"

namespace timpani {

namespace {

/// Turns steps into instructions, keeping account of the messages under way.
class Compiler {
  public:
    Compiler(const Algorithm& algorithm, const Shape& shape)
        : dependencies_(algorithm, shape), touched_(algorithm.window != nullptr && algorithm.window(shape) > 0) {}

    void take(const Step& step) {
        for (const auto earlier : dependencies_.add(step)) wait_for(earlier);
        order_window(step);
        if (!step.is_message()) {
            slot_of_.push_back(-1);
            const auto kind = step.kind == Step::Kind::copy ? Instruction::Kind::copy : Instruction::Kind::reduce;
            instructions_.push_back({.kind = kind, .from = step.from, .to = step.to});
            return;
        }
        slot_of_.push_back(take_slot());
        const auto kind =
            step.kind == Step::Kind::send ? Instruction::Kind::start_send : Instruction::Kind::start_receive;
        instructions_.push_back(
            {.kind = kind, .peer = step.peer, .from = step.from, .to = step.to, .slot = slot_of_.back()});
    }

    Program finish() {
        if (under_way().size() == 1) {
            wait_for(under_way().front());
        } else if (!under_way().empty()) {
            instructions_.push_back({.kind = Instruction::Kind::wait_all, .slot = slots_});
        }
        join();
        return {.instructions = std::move(instructions_), .slots = slots_};
    }

  private:
    [[nodiscard]] const std::deque<std::int64_t>& under_way() const { return dependencies_.under_way(); }

    /// What others wrote before they notified must be seen, and what this rank wrote before it notifies.
    void order_window(const Step& step) {
        if ((step.touches_window() && heard_) || (step.notifies() && touched_)) {
            instructions_.push_back({.kind = Instruction::Kind::sync});
            heard_ = touched_ = false;
        }
        heard_ = heard_ || step.awaits();
        touched_ = touched_ || step.touches_window();
    }

    void wait_for(std::int64_t number) {
        const auto slot = slot_of_[static_cast<std::size_t>(number)];
        if (slot < 0) return;  // a local step, or waited for already
        instructions_.push_back({.kind = Instruction::Kind::wait, .slot = slot});
        slot_of_[static_cast<std::size_t>(number)] = -1;
        free_.push_back(slot);
    }

    std::int32_t take_slot() {
        if (free_.empty()) return slots_++;
        const auto slot = free_.back();
        free_.pop_back();
        return slot;
    }

    /// A message that is waited for at once needs no request: MPI's blocking calls cost less. The same for a send and a
    /// receive that start together and are both waited for next.
    void join() {
        using Kind = Instruction::Kind;
        std::vector<Instruction> joined;
        const auto is = [this](std::size_t i, Kind kind) {
            return i < instructions_.size() && instructions_[i].kind == kind;
        };
        const auto starts = [&is](std::size_t i) { return is(i, Kind::start_send) || is(i, Kind::start_receive); };
        for (std::size_t i = 0; i < instructions_.size(); ++i) {
            const Instruction& first = instructions_[i];
            const bool pair = starts(i) && starts(i + 1) && first.kind != instructions_[i + 1].kind;
            const bool both_waited =
                pair && ((is(i + 2, Kind::wait) && is(i + 3, Kind::wait) &&
                          waits_for_both(instructions_[i + 2], instructions_[i + 3], first, instructions_[i + 1])) ||
                         (is(i + 2, Kind::wait_all) && under_way().size() == 2));
            if (starts(i) && is(i + 1, Kind::wait) && instructions_[i + 1].slot == first.slot) {
                Instruction& alone = joined.emplace_back(first);
                alone.kind = first.kind == Kind::start_send ? Kind::send : Kind::receive;
                alone.slot = -1;
                i += 1;
            } else if (both_waited) {
                const bool send_first = first.kind == Kind::start_send;
                const Instruction& send = send_first ? first : instructions_[i + 1];
                const Instruction& receive = send_first ? instructions_[i + 1] : first;
                joined.push_back({.kind = Kind::exchange,
                                  .peer = send.peer,
                                  .other_peer = receive.peer,
                                  .from = send.from,
                                  .to = receive.to});
                i += is(i + 2, Kind::wait_all) ? 2 : 3;
            } else {
                joined.push_back(first);
            }
        }
        instructions_ = std::move(joined);
    }

    static bool waits_for_both(const Instruction& a, const Instruction& b, const Instruction& x, const Instruction& y) {
        return (a.slot == x.slot && b.slot == y.slot) || (a.slot == y.slot && b.slot == x.slot);
    }

    DependencyTracker dependencies_;
    std::vector<Instruction> instructions_;
    std::vector<std::int32_t> slot_of_;  // per step: the slot of its request while it is under way
    std::vector<std::int32_t> free_;
    std::int32_t slots_ = 0;
    // Since the last sync, which may have been in the call before: something was awaited; a step touched the window.
    bool heard_ = true;
    bool touched_;
};

}  // namespace

Program compile(const Algorithm& algorithm, const Shape& shape, int rank) {
    Compiler compiler(algorithm, shape);
    Steps steps;
    const auto rounds = algorithm.rounds(shape);
    for (std::int64_t round = 0; round < rounds; ++round) {
        steps.clear();
        algorithm.round(shape, rank, round, steps);
        for (const Step& step : steps.all()) compiler.take(step);
    }
    Program program = compiler.finish();
    program.scratch = algorithm.scratch == nullptr ? 0 : algorithm.scratch(shape, rank);
    program.window = algorithm.window == nullptr ? 0 : algorithm.window(shape);
    return program;
}

}  // namespace timpani
