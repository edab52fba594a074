#include "execute/program.hpp"

#include <algorithm>

#include "schedule/engine/dependencies.hpp"

namespace timpani {

namespace {

/// Translates steps into instructions, and tracks the messages under way.
class Compiler {
  public:
    Compiler(const Algorithm& algorithm, const CollectiveArguments& args)
        : max_under_way_(timpani::max_messages_under_way(algorithm, args)),
          accessed_since_sync_(algorithm.window != nullptr && algorithm.window(args) > 0) {}

    void add(const Step& step) {
        const Place place{0, taken_++};
        dependencies_.find(messages_, step, place.number, max_under_way_);
        dependencies_.remove_waited(messages_, [this](const auto& message) { wait_for(message.note); });
        order_window(step);
        if (!step.is_message()) {
            const auto kind = step.kind == Step::Kind::copy ? Instruction::Kind::copy : Instruction::Kind::reduce;
            instructions_.push_back({.kind = kind, .from = step.from, .to = step.to});
            return;
        }
        const auto kind =
            step.kind == Step::Kind::send ? Instruction::Kind::start_send : Instruction::Kind::start_receive;
        const std::int32_t request = take_request();
        instructions_.push_back(
            {.kind = kind, .peer = step.peer, .from = step.from, .to = step.to, .request = request});
        constexpr bool kMet = true;  // other sides don't matter here
        dependencies_.add(messages_, messages_.add({step, place, 0, request, kMet}));
    }

    Program finish() {
        if (dependencies_.size(messages_) == 1) {
            dependencies_.for_each(messages_, [this](int id) { wait_for(messages_[id].note); });
        } else if (dependencies_.size(messages_) > 1) {
            instructions_.push_back({.kind = Instruction::Kind::wait_all, .request = requests_});
        }
        use_blocking_calls();
        return {.instructions = std::move(instructions_), .requests = requests_};
    }

  private:
    /// A memory barrier between awaiting a notification and accessing the window, and between accessing and notifying.
    void order_window(const Step& step) {
        if ((step.touches_window() && awaited_since_sync_) || (step.notifies() && accessed_since_sync_)) {
            instructions_.push_back({.kind = Instruction::Kind::sync});
            awaited_since_sync_ = accessed_since_sync_ = false;
        }
        awaited_since_sync_ = awaited_since_sync_ || step.awaits();
        accessed_since_sync_ = accessed_since_sync_ || step.touches_window();
    }

    void wait_for(std::int32_t request) {
        instructions_.push_back({.kind = Instruction::Kind::wait, .request = request});
        free_.push_back(request);
    }

    std::int32_t take_request() {
        if (free_.empty()) return requests_++;
        const auto request = free_.back();
        free_.pop_back();
        return request;
    }

    /// A message that is waited for at once needs no request: MPI's blocking calls cost less. The same applies to a
    /// send and a receive that start together and are both waited for next.
    void use_blocking_calls() {
        using Kind = Instruction::Kind;
        std::vector<Instruction> fused;
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
                         (is(i + 2, Kind::wait_all) && dependencies_.size(messages_) == 2));
            if (starts(i) && is(i + 1, Kind::wait) && instructions_[i + 1].request == first.request) {
                Instruction& blocking = fused.emplace_back(first);
                blocking.kind = first.kind == Kind::start_send ? Kind::send : Kind::receive;
                blocking.request = -1;
                i += 1;
            } else if (both_waited) {
                const bool send_first = first.kind == Kind::start_send;
                const Instruction& send = send_first ? first : instructions_[i + 1];
                const Instruction& receive = send_first ? instructions_[i + 1] : first;
                fused.push_back({.kind = Kind::exchange,
                                 .peer = send.peer,
                                 .other_peer = receive.peer,
                                 .from = send.from,
                                 .to = receive.to});
                i += is(i + 2, Kind::wait_all) ? 2 : 3;
            } else {
                fused.push_back(first);
            }
        }
        instructions_ = std::move(fused);
    }

    static bool waits_for_both(const Instruction& a, const Instruction& b, const Instruction& x, const Instruction& y) {
        return (a.request == x.request && b.request == y.request) || (a.request == y.request && b.request == x.request);
    }

    std::int64_t max_under_way_;
    std::int64_t taken_ = 0;                  // number of steps
    TrackedMessages<std::int32_t> messages_;  // with the request of each
    DependencyTracker<std::int32_t> dependencies_;
    std::vector<Instruction> instructions_;
    std::vector<std::int32_t> free_;
    std::int32_t requests_ = 0;
    // Since the last sync, which may have been in the call before: whether a notification was awaited, and whether the
    // window was accessed.
    bool awaited_since_sync_ = true;
    bool accessed_since_sync_;
};

}  // namespace

Program compile(const Algorithm& algorithm, const CollectiveArguments& args, int rank) {
    Compiler compiler(algorithm, args);
    Steps steps;
    const auto schedule = prepare(algorithm, args);
    const auto rounds = schedule->rounds();
    for (auto k = schedule->next_active(rank, 0); k < rounds; k = schedule->next_active(rank, k + 1)) {
        steps.clear();
        schedule->round(rank, k, steps);
        for (const Step& step : steps.all()) compiler.add(step);
    }
    Program program = compiler.finish();
    program.scratch = algorithm.scratch == nullptr ? 0 : algorithm.scratch(args, rank);
    program.window = algorithm.window == nullptr ? 0 : algorithm.window(args);
    return program;
}

}  // namespace timpani
