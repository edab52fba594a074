#include "schedule/bind.hpp"

#include <algorithm>
#include <stdexcept>

namespace timpani {

NamedAlgorithm read_algorithm(std::string_view collective, const std::string& text) {
    const NamedText named = split_name(text);
    const std::string whole = std::string(collective) + "/" + named.name;
    const Algorithm* algorithm = find_algorithm(collective, named.name);
    if (algorithm == nullptr) throw std::runtime_error("there is no algorithm " + whole);
    return {algorithm, read_parameters(named.parameters, algorithm->parameters, whole)};
}

BoundAlgorithm bind(std::string_view collective, const std::string& text, const CollectiveArguments& args) {
    const NamedAlgorithm named = read_algorithm(collective, text);
    BoundAlgorithm bound{named.algorithm, args};
    std::ranges::copy(named.parameters, bound.args.parameters.begin());
    require_admitted(*bound.algorithm, bound.args);
    return bound;
}

}  // namespace timpani
