#include "schedule/schedule.hpp"

#include "schedule/algorithm.hpp"

namespace timpani {

namespace {

/// The schedule of an algorithm that prepares nothing.
class FromFunctions final : public Schedule {
  public:
    FromFunctions(const Algorithm& algorithm, const CollectiveArguments& args)
        : rounds_(algorithm.rounds(args)), round_(algorithm.round), next_active_(algorithm.next_active), args_(args) {}

    [[nodiscard]] std::int64_t rounds() const override { return rounds_; }
    void round(int rank, std::int64_t k, Steps& steps) const override { round_(args_, rank, k, steps); }
    [[nodiscard]] std::int64_t next_active(int rank, std::int64_t k) const override {
        return next_active_ == nullptr ? k : next_active_(args_, rank, k);
    }

  private:
    std::int64_t rounds_;
    decltype(Algorithm::round) round_;
    decltype(Algorithm::next_active) next_active_;
    CollectiveArguments args_;
};

}  // namespace

std::unique_ptr<const Schedule> prepare(const Algorithm& algorithm, const CollectiveArguments& args) {
    if (algorithm.prepare != nullptr) return algorithm.prepare(args);
    return std::make_unique<FromFunctions>(algorithm, args);
}

}  // namespace timpani
