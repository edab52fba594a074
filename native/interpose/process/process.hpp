#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "interpose/profile/call_table.hpp"
#include "interpose/rules/rules.hpp"
#include "measure/clock/local_clock.hpp"

namespace timpani {

/// Settings of the library from the environment.
struct Settings {
    bool off = false;              // TIMPANI_OFF=1
    std::string rules;             // TIMPANI_RULES, a file. Empty: no call is replaced.
    std::string profile;           // TIMPANI_PROFILE, a folder to write to at the end. Empty: no profile.
    bool proves = false;           // TIMPANI_PROVE=1: the messages of collectives are counted.
    bool sites = false;            // TIMPANI_SITES=1: calls are counted by their place in the program.
    std::string group;             // of this host, from TIMPANI_GROUPS or Slurm
    std::string clock_skew;        // TIMPANI_CLOCK_SKEW, for tests
    bool fault_tolerance = false;  // Open MPI's: mpirun --with-ft sets OMPI_MCA_mpi_ft_enable

    [[nodiscard]] bool counts() const { return !profile.empty(); }
    [[nodiscard]] bool idle() const { return off || (rules.empty() && !counts()); }
};

Settings read_settings();

/// The rules as this process read them.
struct RulesFile {
    std::vector<Rule> rules{};
    std::string problem{};         // why they can't be used; empty if the file was read
    std::int64_t fingerprint = 0;  // equal for equal texts
};

/// The state of one process, from its first intercepted call on. It lives as long as the process, since MPI may end
/// after static objects are destroyed.
class Process {
  public:
    static Process& get();

    const Settings settings;
    const RulesFile rules;
    CallTable calls;
    LocalClock clock;
    std::int64_t began_ns = clock.now();  // when MPI started, or at its first intercepted call

    /// Prints `text` on stderr if it is the first.
    void warn_once(std::string_view text);

    /// Records why requested rules are not followed anywhere; the first reason remains.
    void refuse(std::string_view why);
    [[nodiscard]] const std::string& refusal() const { return refusal_; }

  private:
    Process();
    std::atomic_flag warned_;
    std::string refusal_;
};

enum class Interception : std::uint8_t { undecided, off, on };

/// Whether calls are intercepted or passed straight to the library. Every call reads it.
inline constinit std::atomic<Interception> interception = Interception::undecided;

/// Whether calls are counted and timed. Written while MPI starts and before `interception` is decided, which releases
/// it to other threads.
inline constinit bool counting = false;

/// Whether the messages of collectives are counted; written as `counting` is.
inline constinit bool proving = false;

/// Whether calls are counted by their place in the program; written as `counting` is.
inline constinit bool counting_sites = false;

/// Whether calls are intercepted. The first call reads the environment.
inline bool intercepting() {
    const Interception decided = interception.load(std::memory_order_acquire);
    if (decided != Interception::undecided) return decided == Interception::on;
    Process::get();
    return interception.load(std::memory_order_acquire) == Interception::on;
}

/// Ends the process with status 2 if the code at `caller`, which calls MPI, is linked with another MPI library than
/// this one, and reports why: each library would get the other one's communicators. Other processes and objects that
/// only load another library are left alone.
void refuse_other_library(const void* caller);

/// Counts the time of its lifetime as setup of `what`, and excludes it from the call that it is part of. Reads no clock
/// if calls are not counted.
class SetupTimer {
  public:
    explicit SetupTimer(std::string_view what) : what_(what) {
        if (counting) start_ = Process::get().clock.now();
    }
    ~SetupTimer() {
        if (!counting) return;
        Process& process = Process::get();
        const std::int64_t ns = process.clock.now() - start_;
        process.calls.add({.key = {.name = what_, .form = Form::setup}, .entry_ns = start_, .ns = ns});
        total_ns += ns;
    }
    SetupTimer(const SetupTimer&) = delete;
    SetupTimer& operator=(const SetupTimer&) = delete;

    /// Nanoseconds that this thread has spent in setup.
    inline static thread_local std::int64_t total_ns = 0;

  private:
    std::string_view what_;
    std::int64_t start_ = 0;
};

}  // namespace timpani
