#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "schedule/algorithm.hpp"

namespace timpani {

/// An algorithm, and the values of its parameters in the order in which it names them.
struct NamedAlgorithm {
    const Algorithm* algorithm;
    std::vector<std::int64_t> parameters;
};

/// Reads `name[:parameter=integer,…]` for a collective; parameters not named take their default values.
/// Throws std::runtime_error where there is no such algorithm or parameter.
NamedAlgorithm read_algorithm(std::string_view collective, const std::string& text);

/// An algorithm with the parameters that it runs with, in its args.
struct BoundAlgorithm {
    const Algorithm* algorithm;
    CollectiveArguments args;
};

/// The algorithm that `text` names, as read_algorithm reads it, for `args`; throws also where it doesn't apply to
/// that.
BoundAlgorithm bind(std::string_view collective, const std::string& text, const CollectiveArguments& args);

}  // namespace timpani
