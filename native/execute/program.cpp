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
        const int under_way = dependencies_.size(messages_);
        if (under_way == 1 || (under_way == 2 && starts_exchange(1))) {
            dependencies_.for_each(messages_, [this](int id) { wait_for(messages_[id].note); });
        } else if (under_way > 1) {
            instructions_.push_back({.kind = Instruction::Kind::wait_all, .request = requests_});
        }
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

    /// A message that is waited for at once needs no request: MPI's blocking calls cost less. The same applies to a
    /// send and a receive that start together and are both waited for next. Messages are waited for oldest first.
    void wait_for(std::int32_t request) {
        using Kind = Instruction::Kind;
        free_.push_back(request);
        const auto end = instructions_.end();
        if (starts(1) && end[-1].request == request) {
            end[-1].kind = end[-1].kind == Kind::start_send ? Kind::send : Kind::receive;
            end[-1].request = -1;
        } else if (starts_exchange(2) && end[-1].kind == Kind::wait && end[-1].request == end[-3].request &&
                   end[-2].request == request) {
            const auto [send, receive] =
                end[-3].kind == Kind::start_send ? std::pair(end[-3], end[-2]) : std::pair(end[-2], end[-3]);
            instructions_.resize(instructions_.size() - 2);
            instructions_.back() = {.kind = Kind::exchange,
                                    .peer = send.peer,
                                    .other_peer = receive.peer,
                                    .from = send.from,
                                    .to = receive.to};
        } else {
            instructions_.push_back({.kind = Kind::wait, .request = request});
        }
    }

    /// Whether the instruction at that place from the end, the last being 1, starts a message.
    [[nodiscard]] bool starts(std::size_t from_end) const {
        if (instructions_.size() < from_end) return false;
        const auto kind = instructions_[instructions_.size() - from_end].kind;
        return kind == Instruction::Kind::start_send || kind == Instruction::Kind::start_receive;
    }
    /// Whether it and the one before start a send and a receive.
    [[nodiscard]] bool starts_exchange(std::size_t from_end) const {
        return starts(from_end) && starts(from_end + 1) &&
               instructions_.end()[-static_cast<std::ptrdiff_t>(from_end)].kind !=
                   instructions_.end()[-static_cast<std::ptrdiff_t>(from_end) - 1].kind;
    }

    std::int32_t take_request() {
        if (free_.empty()) return requests_++;
        const auto request = free_.back();
        free_.pop_back();
        return request;
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
