#include "tests/execute/allocations.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>

// A separate file: compilers that see these definitions warn about their callers.

namespace {
std::int64_t made = 0;
}

void* operator new(std::size_t bytes) {
    ++made;
    if (void* room = std::malloc(std::max<std::size_t>(bytes, 1))) return room;
    throw std::bad_alloc();
}
void operator delete(void* room) noexcept { std::free(room); }
void operator delete(void* room, std::size_t) noexcept { std::free(room); }

namespace timpani::test {
std::int64_t allocations() { return made; }
}  // namespace timpani::test
