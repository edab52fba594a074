#pragma once

#include <cstdint>
#include <limits>
#include <span>

namespace timpani {

/// The values of elements that follow each other in a buffer.
using Values = std::span<std::uint64_t>;

/// The value of an element that a call leaves undefined.
constexpr std::uint64_t kUndefined = std::numeric_limits<std::uint64_t>::max();

/// Sets `values` to the values of the elements from `first` on. It fills whole ranges, since a call for each element of
/// a large message would take longer than measuring it.
template <typename ValueOf>
void fill(Values values, std::int64_t first, ValueOf value_of) {
    for (auto& value : values) value = value_of(first++);
}

}  // namespace timpani
