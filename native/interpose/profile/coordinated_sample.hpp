#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace timpani {

/// The half-width of a 95 % interval, in standard errors of an estimate from a sample (normal distribution).
inline constexpr double kNormal95 = 1.96;

/// When this rank entered and left one call, by its own clock in nanoseconds.
struct SampledCall {
    std::uint64_t number;  // of the call in its stratum, from 0
    std::int64_t entry_ns;
    std::int64_t exit_ns;
    std::uint32_t row;  // of the table of calls
    bool root;
};

/// A random sample of a sequence of calls in bounded memory: the same sample on every rank that counts the same calls.
/// A hash of a call's number decides whether it is kept, so ranks agree without messages. Each call is kept with
/// probability 2⁻ᵏ, independently of all others (Poisson sampling). When the memory is full, k increases by one, and
/// about half of the kept calls are dropped.
class CoordinatedSample {
  public:
    static constexpr std::size_t kCapacity = 512;

    void add(std::int64_t entry_ns, std::int64_t exit_ns, std::uint32_t row, bool root) {
        const std::uint64_t number = calls_++;
        if (!kept(number)) return;
        calls_kept_.push_back({number, entry_ns, exit_ns, row, root});
        while (calls_kept_.size() > kCapacity) {
            ++halvings_;
            std::erase_if(calls_kept_, [this](const SampledCall& call) { return !kept(call.number); });
        }
    }

    /// All calls, kept or not.
    [[nodiscard]] std::uint64_t calls() const { return calls_; }
    /// In the order of the calls.
    [[nodiscard]] const std::vector<SampledCall>& kept_calls() const { return calls_kept_; }
    /// The number of calls that each kept call stands for.
    [[nodiscard]] std::uint64_t calls_per_kept() const { return std::uint64_t{1} << halvings_; }
    /// The probability with which each call was kept.
    [[nodiscard]] double probability() const { return 1.0 / static_cast<double>(calls_per_kept()); }

  private:
    /// SplitMix64 (Steele, Lea & Flood, OOPSLA 2014).
    static std::uint64_t hash(std::uint64_t number) {
        std::uint64_t mixed = (number + 1) * 0x9E3779B97F4A7C15U;
        mixed = (mixed ^ (mixed >> 30U)) * 0xBF58476D1CE4E5B9U;
        mixed = (mixed ^ (mixed >> 27U)) * 0x94D049BB133111EBU;
        return mixed ^ (mixed >> 31U);
    }
    [[nodiscard]] bool kept(std::uint64_t number) const {
        return halvings_ == 0 || hash(number) >> (64U - halvings_) == 0;
    }

    std::uint64_t calls_ = 0;
    unsigned halvings_ = 0;
    std::vector<SampledCall> calls_kept_;
};

}  // namespace timpani
