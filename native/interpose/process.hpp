#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "interpose/profile.hpp"
#include "interpose/rules.hpp"
#include "interpose/settings.hpp"

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
    Profile profile;

    /// The key of the attribute that a communicator's state hangs on.
    int keyval();

    /// Says `text` in one line on stderr, once.
    void complain(std::string_view text);

  private:
    Process();
    std::atomic_flag complained_;
};

enum class Duty : std::uint8_t { unknown, off, on };

/// Off: calls go straight to the library. Looked at by every call.
inline constinit std::atomic<Duty> duty = Duty::unknown;

/// Whether calls are counted and timed. Told before `duty` is.
inline constinit bool counting = false;

/// Whether calls are looked at; reads the environment the first time.
inline bool on_duty() {
    const Duty known = duty.load(std::memory_order_acquire);
    if (known != Duty::unknown) return known == Duty::on;
    Process::get();
    return duty.load(std::memory_order_acquire) == Duty::on;
}

}  // namespace timpani
