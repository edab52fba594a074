#pragma once

#include <cstdint>

namespace timpani::test {

/// Number of calls of operator new so far, in a program that links allocations.cpp.
std::int64_t allocations();

}  // namespace timpani::test
