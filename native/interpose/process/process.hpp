#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "interpose/process/settings.hpp"
#include "interpose/profile/call_table.hpp"
#include "interpose/rules/rules.hpp"
#include "measure/clock/local_clock.hpp"

namespace timpani {

/// The rules as this process found them.
struct RulesFile {
    std::vector<Rule> rules{};
    std::string problem{};         // why there are none; empty where the file was read
    std::int64_t fingerprint = 0;  // the same where the text is
};

/// What one process knows, from its first intercepted call on. It lives as long as the process does, since MPI may end
/// after static objects have gone.
class Process {
  public:
    static Process& get();

    const Settings settings;
    const RulesFile rules;
    CallTable calls;
    LocalClock clock;
    std::int64_t began_ns = clock.now();  // as MPI began, or its first call that was seen

    /// Prints `text` on stderr, the first time only.
    void warn_once(std::string_view text);

    /// Notes why rules that were asked for are not followed anywhere; the first reason stays.
    void refuse(std::string_view why);
    [[nodiscard]] const std::string& refusal() const { return refusal_; }

  private:
    Process();
    std::atomic_flag warned_;
    std::string refusal_;
};

enum class Interception : std::uint8_t { undecided, off, on };

/// Whether calls are intercepted, or go straight to the library. Read by every call.
inline constinit std::atomic<Interception> interception = Interception::undecided;

/// Whether calls are counted and timed. Written before `interception` is decided, which releases it to other threads,
/// and while MPI begins.
inline constinit bool counting = false;

/// Whether calls are intercepted; reads the environment the first time.
inline bool intercepting() {
    const Interception decided = interception.load(std::memory_order_acquire);
    if (decided != Interception::undecided) return decided == Interception::on;
    Process::get();
    return interception.load(std::memory_order_acquire) == Interception::on;
}

}  // namespace timpani
