#pragma once

#include <string>
#include <string_view>

#include "schedule/algorithm.hpp"

namespace timpani {

/// An algorithm with the parameters that it runs with, in its shape.
struct BoundAlgorithm {
    const Algorithm* algorithm;
    Shape shape;
};

/// Reads `name[:parameter=integer,…]` for a collective; parameters not named take their default values.
/// Throws std::runtime_error where there is no such algorithm or parameter, or where it does not apply to `shape`.
BoundAlgorithm bind(std::string_view collective, const std::string& text, const Shape& shape);

}  // namespace timpani
