#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "operations/operation.hpp"

namespace timpani {

/// The number of whole elements in `bytes` bytes. Throws NotApplicable if it exceeds MPI's integer counts.
inline int int_count(std::int64_t bytes, const Datatype& datatype) {
    const auto count = bytes / static_cast<std::int64_t>(datatype.bytes);
    if (count > std::numeric_limits<int>::max()) {
        throw NotApplicable(std::to_string(count) + " elements are too many for MPI's integer counts");
    }
    return static_cast<int>(count);
}

}  // namespace timpani
