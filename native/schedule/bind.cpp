#include "schedule/bind.hpp"

#include <algorithm>
#include <stdexcept>

namespace timpani {

BoundAlgorithm bind(std::string_view collective, const std::string& text, const Shape& shape) {
    const NamedText named = split_name(text);
    const Algorithm* algorithm = find_algorithm(collective, named.name);
    const std::string whole = std::string(collective) + "/" + text;
    if (algorithm == nullptr) throw std::runtime_error("there is no algorithm " + whole);
    BoundAlgorithm bound{algorithm, shape};
    std::ranges::copy(read_parameters(named.parameters, algorithm->parameters, whole), bound.shape.parameters.begin());
    if (!algorithm->restrictions.admit(bound.shape)) {
        throw std::runtime_error(whole + " applies only where: " + algorithm->restrictions.text());
    }
    return bound;
}

}  // namespace timpani
