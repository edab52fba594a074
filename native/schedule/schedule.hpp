#pragma once

#include <cstdint>
#include <memory>

#include "collectives/collective.hpp"
#include "schedule/step.hpp"

namespace timpani {

struct Algorithm;

/// One call of an algorithm: its steps, rank by rank and round by round. The constructor computes what all rounds
/// share. After that every function is pure and cheap: it computes any rank and round on demand, so nothing is stored
/// for a million ranks.
class Schedule {
  public:
    Schedule() = default;
    Schedule(const Schedule&) = delete;
    Schedule& operator=(const Schedule&) = delete;
    virtual ~Schedule() = default;

    [[nodiscard]] virtual std::int64_t rounds() const = 0;
    /// Adds the steps of `rank` in round k to `steps`.
    virtual void round(int rank, std::int64_t k, Steps& steps) const = 0;
    /// The first round, k or later, in which `rank` may have steps; rounds() or more if no such round exists. It has no
    /// steps in the skipped rounds.
    [[nodiscard]] virtual std::int64_t next_active(int /*rank*/, std::int64_t k) const { return k; }
};

/// The schedule of `algorithm` for `args`; the counts and the topology that `args` refers to must outlive it.
std::unique_ptr<const Schedule> prepare(const Algorithm& algorithm, const CollectiveArguments& args);

/// What algorithms register whose schedule is a class: `.prepare = prepared<Broadcast>`, or `.prepare =
/// prepared_by<reduction>` if a function makes it. `Body` is constructed from arguments, to which it may refer. It has
/// `rounds()` and `round(rank, k, steps)`, and optionally `next_active(rank, k)`.
template <class Body>
class Prepared final : public Schedule {
  public:
    template <class Make>
    Prepared(const CollectiveArguments& args, const Make& make) : args_(args), body_(make(args_)) {}

    [[nodiscard]] std::int64_t rounds() const override { return body_.rounds(); }
    void round(int rank, std::int64_t k, Steps& steps) const override { body_.round(rank, k, steps); }
    [[nodiscard]] std::int64_t next_active(int rank, std::int64_t k) const override {
        if constexpr (requires { body_.next_active(rank, k); }) return body_.next_active(rank, k);
        return k;
    }

  private:
    CollectiveArguments args_;  // the body refers to it
    Body body_;
};

template <auto make>
std::unique_ptr<const Schedule> prepared_by(const CollectiveArguments& args) {
    return std::make_unique<Prepared<decltype(make(args))>>(args, make);
}
template <class Body>
std::unique_ptr<const Schedule> prepared(const CollectiveArguments& args) {
    return prepared_by<[](const CollectiveArguments& own) { return Body(own); }>(args);
}

}  // namespace timpani
