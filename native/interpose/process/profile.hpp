#pragma once

#include <mpi.h>

#include <chrono>
#include <compare>
#include <cstdint>
#include <map>
#include <mutex>
#include <ostream>
#include <string>
#include <vector>

namespace timpani {

/// What calls are counted by. `size_class` is the bits of the message's bytes: 0 for none, k for [2^(k−1), 2^k); -1
/// where ranks have several sizes, or the library doesn't look.
struct ProfileKey {
    std::string collective;       // or `setup`
    int ranks = 0;                // of the communicator, both groups together
    bool between_groups = false;  // an intercommunicator
    int size_class = 0;
    std::string algorithm;  // `default`, or one of ours; of a setup what was made
    std::string reason;     // why a rule that matched was not followed

    friend auto operator<=>(const ProfileKey&, const ProfileKey&) = default;
};

/// What a rank's calls moved and took, or all ranks' together. `bytes` as a rule counts them.
struct ProfileEntry {
    std::int64_t calls = 0;
    std::int64_t bytes = 0;
    double seconds = 0;
    double seconds_max = 0;  // most of any rank

    void add(const ProfileEntry& other);
};

/// What several ranks called, or one alone.
struct ProfileReport {
    std::vector<std::string> programs{};  // that ran, each once
    int reporting = 0;                    // ranks that tell here
    std::string note{};                   // what to know of them; empty: they are all
    double wall_seconds = 0;              // of the rank that took longest
    std::map<ProfileKey, ProfileEntry> rows{};
    ProfileEntry total{};

    /// Calls and bytes of a row as calls, in which all ranks of the communicator take part, unless one rank tells
    /// alone.
    [[nodiscard]] double each(const ProfileKey& key, std::int64_t sum) const;
    /// Seconds, as the mean over the ranks that tell, in or out of the communicator.
    [[nodiscard]] double mean(const ProfileEntry& entry) const { return entry.seconds / reporting; }
    [[nodiscard]] double share(const ProfileEntry& entry) const;
    /// Rows by what they cost, most first.
    [[nodiscard]] std::vector<const std::pair<const ProfileKey, ProfileEntry>*> by_cost() const;
};

/// The size class of a message.
int size_class_of(std::int64_t bytes);

/// What this process has called; safe to be told by several threads.
class Profile {
  public:
    void add(const ProfileKey& key, std::int64_t bytes, double seconds);
    /// All ranks' rows together at rank 0 of `comm`, nothing elsewhere. Collective.
    ProfileReport gathered(MPI_Comm comm);
    /// Those of this process, where the others can't be asked. `note` says why.
    ProfileReport alone(const std::string& note);

  private:
    std::string as_text();

    std::mutex mutex_;
    std::map<ProfileKey, ProfileEntry> rows_;
    const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// As CSV; docs/how-to/replace-collectives.md has the columns.
void write_csv(std::ostream& out, const ProfileReport& report);

/// As a table for people.
void write_summary(std::ostream& out, const ProfileReport& report);

}  // namespace timpani
