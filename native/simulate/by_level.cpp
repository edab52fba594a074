#include "simulate/by_level.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "schedule/engine/dependencies.hpp"
#include "simulate/moment.hpp"
#include "simulate/shared_links.hpp"

namespace timpani {

namespace {

/// Thrown where the level-by-level simulation doesn't apply.
struct LevelsNotApplicable : std::exception {};

/// The messages of one direction that a step waits for, among those that its rank may have under way: a sum of flags.
using Waits = std::uint8_t;
constexpr Waits kForNewest = 1;
constexpr Waits kForOlder = 2;     // an older one, or none: only their common region is known
constexpr Waits kForAllOlder = 4;  // every older one

constexpr int kNobody = -1;

/// The messages of one direction, sends or receives, of all ranks. The state of a rank is small, since every round
/// visits all of it.
template <class Moment, Step::Kind kind>
class Direction {
  public:
    /// A rank's port, which passes one message at a time, and its newest message.
    struct Side {
        Moment free{};      // when the last one has left the port
        double began = -1;  // sends: since when the port has been busy; receives: start of the last one
        Moment posted{};
        Moment until{};  // its end, once it has flowed
        std::int64_t first = 0;
        std::int64_t count = 0;
        int peer = kNobody;  // until it has flowed
        Buffer buffer = Buffer::send;
        bool is_alone = true;  // no older message may be under way

        [[nodiscard]] Region region() const { return {buffer, first, count}; }
    };

    explicit Direction(int ranks) : sides_(static_cast<std::size_t>(ranks)) {}

    Side& operator[](int rank) { return sides_[static_cast<std::size_t>(rank)]; }

    /// Makes a message of `rank`, which is at time `now`, the newest one. The caller sets when it has been posted.
    void post(int rank, int peer, const Region& region, const Moment& now) {
        Side& side = (*this)[rank];
        if (!side.is_alone && older_of(rank).until.time <= now.time) side.is_alone = true;
        if (side.until.time > now.time) {
            Older& older = older_of(rank);
            if (side.is_alone) {
                older = {side.until, side.region()};
            } else {
                older.add(side.until, side.region());
            }
            side.is_alone = false;
        }
        side.first = region.first;
        side.count = region.count;
        side.peer = peer;
        side.buffer = region.buffer;
    }

    [[nodiscard]] Waits waits(int rank, const Step& step) {
        const Side& side = (*this)[rank];
        const Waits newest = depends(step, side.region()) ? kForNewest : 0;
        return side.is_alone ? newest : newest | waits_for_older(step, older_of(rank).region);
    }
    /// Lets `rank`, which is at `now`, wait.
    void wait(int rank, Moment& now, Waits waits) {
        if (waits == 0) return;
        const Side& side = (*this)[rank];
        if ((waits & kForNewest) != 0 && now.time < side.until.time) now = side.until;
        if ((waits & kForOlder) == 0 || older_of(rank).until.time <= now.time) return;
        if ((waits & kForAllOlder) == 0) throw LevelsNotApplicable();
        now = older_of(rank).until;
    }
    void wait(int rank, Moment& now, const Step& step) {
        const Side& side = (*this)[rank];
        if (side.until.time > now.time || !side.is_alone) wait(rank, now, waits(rank, step));
    }

    static bool depends(const Step& step, const Region& region) {
        if constexpr (kind == Step::Kind::send) return step.writes(region);
        return step.writes(region) || step.reads(region) || (region.count == 0 && step.notifies());
    }

  private:
    /// The messages before the newest.
    struct Older {
        Moment until{};   // the last one's end
        Region region{};  // contains all of them; empty if they have no data

        void add(const Moment& end, const Region& other) {
            if (region.buffer != other.buffer || (region.count == 0) != (other.count == 0)) throw LevelsNotApplicable();
            const auto last = std::max(region.end(), other.end());
            region.first = std::min(region.first, other.first);
            region.count = last - region.first;
            until = later(end, until);
        }
    };

    static Waits waits_for_older(const Step& step, const Region& older) {
        if (!depends(step, older)) return 0;
        const bool all = older.count == 0 || (step.writes(older) && step.to.contains(older)) ||
                         (kind == Step::Kind::receive && step.reads(older) && step.from.contains(older));
        return all ? kForOlder + kForAllOlder : kForOlder;
    }
    Older& older_of(int rank) {
        if (older_.empty()) older_.resize(sides_.size());
        return older_[static_cast<std::size_t>(rank)];
    }

    std::vector<Side> sides_;
    std::vector<Older> older_;  // of ranks with older messages; separate, since many algorithms have none
};

/// A local step that waits for messages of the same round.
struct LateStep {
    int rank;
    Step::Kind kind;
    Waits sends;
    Waits receives;
    std::int64_t count;
};

template <class Moment>
class Levels {
  public:
    Levels(const Schedule& schedule, const CollectiveArguments& args, const Costs& costs)
        : schedule_(schedule),
          ranks_(args.ranks),
          call_costs_(costs, args),
          fair_(costs.fair),
          now_(static_cast<std::size_t>(args.ranks)),
          sends_(args.ranks),
          receives_(args.ranks) {}

    Moment run() {
        const auto rounds = schedule_.rounds();
        std::vector<LateStep> late;  // of the round before, by rank
        for (round_ = 0; round_ <= rounds; ++round_) {
            late.swap(late_);
            late_.clear();
            std::span<const LateStep> left(late);
            for (int rank = 0; rank < ranks_; ++rank) {
                Moment now = now_[static_cast<std::size_t>(rank)];
                for (; !left.empty() && left.front().rank == rank; left = left.subspan(1)) finish(left.front(), now);
                if (round_ < rounds) begin(rank, now);
                now_[static_cast<std::size_t>(rank)] = now;
            }
            if (unmet_ != 0) throw LevelsNotApplicable();
        }
        return last_.moment;
    }

  private:
    using Sends = Direction<Moment, Step::Kind::send>;
    using Receives = Direction<Moment, Step::Kind::receive>;

    /// The message or step that ended last. Of several it is the one of the earliest round, messages after steps, and
    /// of the lowest rank, so that the composition doesn't depend on the order of visiting ranks. A step that waits for
    /// messages of the same round counts as the next round.
    struct Last {
        Moment moment{};
        std::int64_t stage = 0;
        int rank = 0;

        void add(const Moment& end, std::int64_t at, int of) {
            if (end.time < moment.time) return;
            if (end.time == moment.time && std::pair(stage, rank) <= std::pair(at, of)) return;
            *this = {end, at, of};
        }
    };

    /// Runs steps up to the first that waits for a message of this round; defers the others.
    void begin(int rank, Moment& now) {
        steps_.clear();
        schedule_.round(rank, round_, steps_);
        const auto steps = steps_.all();
        const Step* sent = nullptr;
        const Step* received = nullptr;
        auto step = steps.begin();
        for (; step != steps.end(); ++step) {
            if (sent != nullptr && Sends::depends(*step, sent->from)) break;
            if (received != nullptr && Receives::depends(*step, received->to)) break;
            sends_.wait(rank, now, *step);
            receives_.wait(rank, now, *step);
            if (step->is_message()) call_costs_.post(now, *step);
            if (step->kind == Step::Kind::send) {
                if (sent != nullptr) throw LevelsNotApplicable();
                sent = &*step;
                sends_[rank].posted = now;
            } else if (step->kind == Step::Kind::receive) {
                if (received != nullptr) throw LevelsNotApplicable();
                received = &*step;
                receives_[rank].posted = now;
            } else {
                compute(rank, now, step->kind, step->from.count);
            }
        }
        if (sent != nullptr) sends_.post(rank, sent->peer, sent->from, now);
        if (received != nullptr) receives_.post(rank, received->peer, received->to, now);
        for (; step != steps.end(); ++step) {
            if (step->is_message()) throw LevelsNotApplicable();
            late_.push_back({.rank = rank,
                             .kind = step->kind,
                             .sends = sends_.waits(rank, *step),
                             .receives = receives_.waits(rank, *step),
                             .count = step->from.count});
        }
        if (sent != nullptr) meet(rank, sent->peer);
        if (received != nullptr) meet(received->peer, rank);
    }

    void finish(const LateStep& step, Moment& now) {
        sends_.wait(step.rank, now, step.sends);
        receives_.wait(step.rank, now, step.receives);
        compute(step.rank, now, step.kind, step.count);
    }

    void compute(int rank, Moment& now, Step::Kind kind, std::int64_t count) {
        call_costs_.compute(now, kind, count);
        last_.add(now, 2 * round_, rank);
    }

    /// One side of a message has been posted: starts it if the other side has been, too.
    void meet(int sender, int receiver) {
        auto& out = sends_[sender];
        auto& in = receives_[receiver];
        if (out.peer != receiver || in.peer != sender) {
            ++unmet_;
            return;
        }
        --unmet_;
        if (out.count != in.count) throw LevelsNotApplicable();
        const bool eagerly = fair_ && call_costs_.is_eager(out.count);
        const Moment& both = eagerly ? out.posted : later(out.posted, in.posted);
        // The sender's port was busy until then, and all of the receiver's messages began before this one could.
        if (both.time < out.began || later(both, out.free).time <= in.began) throw LevelsNotApplicable();
        // Two messages would share a port.
        if (fair_ && later(out.free, in.free).time > both.time) throw LevelsNotApplicable();
        const auto message = call_costs_.message(sender, receiver, out.count);
        Moment now = later(both, later(out.free, in.free));
        now.waits_from(both);
        if (now.time > out.free.time) out.began = now.time;
        in.began = now.time;
        const Moment start = now;
        Moment ready = fair_ ? out.posted : later(out.posted, out.free);
        ready.waits_from(out.posted);
        CallCosts::hold_ports(now, message);
        in.free = now;
        if (eagerly) {
            CallCosts::take_latency(now, message);
            now = later(now, in.posted);
            out.free = in.free;
        } else {
            const Moment sent = call_costs_.arrive(now, start, ready, message);
            out.free = fair_ ? in.free : sent;  // a message that shares ports occupies both until it ends
        }
        out.until = in.until = now;
        out.peer = in.peer = kNobody;
        last_.add(now, 2 * round_ + 1, receiver);
    }

    const Schedule& schedule_;
    int ranks_;
    CallCosts call_costs_;
    bool fair_;
    std::int64_t round_ = 0;
    std::vector<Moment> now_;  // when each rank may begin its next step
    Sends sends_;
    Receives receives_;
    std::int64_t unmet_ = 0;      // sides of messages whose other side has not been posted
    std::vector<LateStep> late_;  // of this round
    Steps steps_;
    Last last_;
};

/// Whether a sample of ranks shows that events are better: a rank sends or receives two messages in a round, or ranks
/// other than the root are idle in most rounds, which levels would visit nevertheless.
bool events_are_faster(const Schedule& schedule, const CollectiveArguments& args) {
    const auto rounds = schedule.rounds();
    std::int64_t asked = 0;
    std::int64_t active = 0;
    Steps steps;
    for (const int rank : {args.root, args.ranks / 3, args.ranks / 2, args.ranks - 1}) {
        std::int64_t found = 0;
        for (auto k = schedule.next_active(rank, 0); k < rounds; k = schedule.next_active(rank, k + 1)) {
            ++found;
            steps.clear();
            schedule.round(rank, k, steps);
            const auto count = [&](Step::Kind kind) { return std::ranges::count(steps.all(), kind, &Step::kind); };
            if (count(Step::Kind::send) > 1 || count(Step::Kind::receive) > 1) return true;
        }
        if (rank == args.root) continue;
        asked += rounds;
        active += found;
    }
    // An event takes about 0.5 us, visiting a rank's round at most 0.045 us, but events need more memory.
    constexpr int kVisitsPerEvent = 32;
    return active * kVisitsPerEvent < asked;
}

}  // namespace

template <std::size_t kTerms>
std::optional<Moment<kTerms>> last_by_level(const Algorithm& algorithm, const CollectiveArguments& args,
                                            const Costs& costs) {
    // Notifications of a window order steps that don't touch the same data.
    if (algorithm.window != nullptr) return std::nullopt;
    // Messages pass shared links in order of time, not of rounds.
    if (SharedLinks<Moment<kTerms>>::shares(costs, args.topology)) return std::nullopt;
    const auto schedule = prepare(algorithm, args);
    // At most two messages per round: the bound on messages under way is never reached.
    if (2 * schedule->rounds() > max_messages_under_way(algorithm, args)) return std::nullopt;
    if (events_are_faster(*schedule, args)) return std::nullopt;
    try {
        return Levels<Moment<kTerms>>(*schedule, args, costs).run();
    } catch (const LevelsNotApplicable&) {
        return std::nullopt;
    }
}

template std::optional<Moment<0>> last_by_level(const Algorithm&, const CollectiveArguments&, const Costs&);
template std::optional<Moment<kFewTerms>> last_by_level(const Algorithm&, const CollectiveArguments&, const Costs&);
template std::optional<Moment<kManyTerms>> last_by_level(const Algorithm&, const CollectiveArguments&, const Costs&);
template std::optional<Moment<kMaxTerms>> last_by_level(const Algorithm&, const CollectiveArguments&, const Costs&);

}  // namespace timpani
