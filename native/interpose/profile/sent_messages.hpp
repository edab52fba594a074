#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace timpani {

/// What this rank sent to one rank of MPI_COMM_WORLD.
struct SentTo {
    int peer = 0;
    std::int64_t messages = 0;
    std::int64_t bytes = 0;
};

/// The messages of one call of a collective.
class SentMessages {
  public:
    static constexpr std::size_t kMaxPeers = 1024;  // 24 kB for a call

    void clear() {
        to_.clear();
        complete_ = true;
    }
    void add(int peer, std::int64_t bytes) {
        // From the newest on: algorithms send segments to one peer after another.
        for (auto each = to_.rbegin(); each != to_.rend(); ++each) {
            if (each->peer != peer) continue;
            ++each->messages;
            each->bytes += bytes;
            return;
        }
        complete_ = complete_ && to_.size() < kMaxPeers;
        if (complete_) to_.push_back({.peer = peer, .messages = 1, .bytes = bytes});
    }
    [[nodiscard]] const std::vector<SentTo>& to() const { return to_; }
    /// Whether there were at most kMaxPeers peers.
    [[nodiscard]] bool complete() const { return complete_; }

  private:
    std::vector<SentTo> to_;
    bool complete_ = true;
};

/// Where the messages of this thread's collective are counted; nullptr outside of collectives and without
/// TIMPANI_PROVE.
inline constinit thread_local SentMessages* sent_in_call = nullptr;

/// One call with the messages that this rank sent in it. Ranks are those of the communicator.
struct ProvenCall {
    std::vector<SentTo> sent{};
    std::int64_t bytes = 0;
    int element_bytes = 1;
    int rank = 0;
    int root = 0;  // 0 without a root
};

}  // namespace timpani
