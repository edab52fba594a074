#pragma once

#include <cstdint>
#include <memory>

#include "collectives/collective.hpp"
#include "schedule/step.hpp"

namespace timpani {

struct Algorithm;

/// One call of an algorithm: what moves, rank by rank and round by round. What all rounds share is worked out once,
/// when it is made; after that every function is pure and cheap, so that any rank and round can be asked for alone and
/// nothing has to be kept for a million ranks.
class Schedule {
  public:
    Schedule() = default;
    Schedule(const Schedule&) = delete;
    Schedule& operator=(const Schedule&) = delete;
    virtual ~Schedule() = default;

    [[nodiscard]] virtual std::int64_t rounds() const = 0;
    /// Adds the steps of `rank` in round k to `steps`.
    virtual void round(int rank, std::int64_t k, Steps& steps) const = 0;
    /// The first round from k on in which `rank` may do anything, or any number ≥ rounds() where there is none. In
    /// those passed over it does nothing.
    [[nodiscard]] virtual std::int64_t next_active(int /*rank*/, std::int64_t k) const { return k; }
};

/// The schedule of `algorithm` for `args`; the counts and the topology that `args` refers to must outlive it.
std::unique_ptr<const Schedule> prepare(const Algorithm& algorithm, const CollectiveArguments& args);

/// What algorithms that prepare something register: `.prepare = prepared<Broadcast>`, or where a function makes it
/// `.prepare = prepared_by<reduction>`. A body is made from arguments, to which it may refer; it has `rounds()` and
/// `round(rank, k, steps)`, and `next_active(rank, k)` where it passes rounds over.
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
