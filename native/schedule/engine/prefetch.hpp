#pragma once

#include <cstddef>

namespace timpani {

/// Bytes in a cache line on most processors.
constexpr std::size_t kCacheLine = 64;

/// Loads a cache line early, since memory is slow.
inline void prefetch(const void* line) {
    __builtin_prefetch(line);
    // GCC takes a function that only prefetches for one without effect, and drops its calls.
    asm volatile("");
}

}  // namespace timpani
