#pragma once

#include <mpi.h>

#include <compare>
#include <cstdint>
#include <map>
#include <mutex>
#include <ostream>
#include <string>
#include <vector>

namespace timpani {

/// What calls are counted by. `size_class` is the bits of the message's bytes: 0 for none, k for [2^(k−1), 2^k); -1
/// where ranks have several sizes.
struct ProfileKey {
    std::string collective;  // or `setup`
    int ranks = 0;
    int size_class = 0;
    std::string algorithm;  // `default`, or one of ours; of a setup what was made
    std::string reason;     // why a rule that matched was not followed

    friend auto operator<=>(const ProfileKey&, const ProfileKey&) = default;
};

/// What `calls` calls moved and took on one rank, or on all together. `bytes` as a rule counts them.
struct ProfileEntry {
    std::int64_t calls = 0;
    std::int64_t bytes = 0;
    double seconds = 0;
    double seconds_max = 0;  // most of any rank

    void add(const ProfileEntry& other);
};

/// Rows of a profile by key.
using ProfileRows = std::map<ProfileKey, ProfileEntry>;

/// The size class of a message.
int size_class_of(std::int64_t bytes);

/// What this process has called; safe to be told by several threads.
class Profile {
  public:
    void add(const ProfileKey& key, std::int64_t bytes, double seconds);

    /// All ranks' rows together at rank 0 of `comm`, nothing elsewhere. Collective.
    ProfileRows gathered(MPI_Comm comm);

  private:
    std::mutex mutex_;
    ProfileRows rows_;
};

/// As CSV: `calls` and `bytes` of calls (not of ranks), `seconds` the mean over the ranks that took part.
void write_csv(std::ostream& out, const ProfileRows& rows);

/// As a table for people.
void write_summary(std::ostream& out, const ProfileRows& rows);

}  // namespace timpani
