#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "measure/files/plan.hpp"
#include "operations/operation.hpp"

namespace timpani {

/// Bytes of last-level cache per core: the cache's size over the number of cores that share it.
std::int64_t last_level_cache_share();

/// Memory for one rank's calls. The rank itself touches it first, so it lies near the core that the rank is bound to.
///
/// warm    every call uses the same two buffers
/// rotate  calls cycle through buffers that together exceed twice the rank's share of the last-level cache
/// flush   the same two buffers; between calls the rank reads as much other memory as its share of the cache
class Buffers {
  public:
    /// Allocates the buffers, and fills the send buffers with this rank's contributions.
    void prepare(const Operation& operation, CacheMode mode);

    /// Does what this mode requires between two timed calls.
    void between_calls();

    [[nodiscard]] std::byte* send() { return send_pool_.data() + slot_ * send_stride_; }
    [[nodiscard]] std::byte* receive() { return receive_pool_.data() + slot_ * receive_stride_; }

    /// Makes every element of the receive buffer wrong, so a call that does nothing can't pass the check.
    void poison(const Operation& operation);

    /// Describes the first wrong element of the receive buffer after a call; nothing if all are right.
    [[nodiscard]] std::optional<std::string> find_mistake(const Operation& operation);

  private:
    CacheMode mode_ = CacheMode::warm;
    std::vector<std::byte> send_pool_;
    std::vector<std::byte> receive_pool_;
    std::vector<std::byte> other_memory_;
    std::size_t send_stride_ = 0;
    std::size_t receive_stride_ = 0;
    std::size_t slots_ = 1;
    std::size_t slot_ = 0;
    volatile std::uint64_t read_ = 0;
};

}  // namespace timpani
