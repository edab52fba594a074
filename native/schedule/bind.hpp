#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "schedule/algorithm.hpp"

namespace timpani {

/// An algorithm and the values of its parameters, in the order in which the algorithm lists them.
struct NamedAlgorithm {
    const Algorithm* algorithm;
    std::vector<std::int64_t> parameters;
};

/// Reads `name[:parameter=integer,…]` for a collective. Parameters that are not named take their default values. Throws
/// std::runtime_error if the algorithm or a parameter does not exist.
NamedAlgorithm read_algorithm(std::string_view collective, const std::string& text);

/// An algorithm; its args contain the values of its parameters.
struct BoundAlgorithm {
    const Algorithm* algorithm;
    CollectiveArguments args;
};

/// The algorithm that `text` names (see read_algorithm), for `args`. Also throws if the algorithm doesn't apply to
/// `args`.
BoundAlgorithm bind(std::string_view collective, const std::string& text, const CollectiveArguments& args);

}  // namespace timpani
