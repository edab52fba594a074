#pragma once

#include <cstddef>

namespace timpani {

/// Bytes that a processor brings from memory at once, on all but a few.
constexpr std::size_t kCacheLine = 64;

/// Has a line brought from memory, where that takes long, before it is asked for.
inline void prefetch(const void* line) {
    __builtin_prefetch(line);
    // GCC takes what only fetches ahead for a function without effect, and drops its calls.
    asm volatile("");
}

}  // namespace timpani
