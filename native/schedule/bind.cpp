#include "schedule/bind.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace timpani {

BoundAlgorithm bind(std::string_view collective, const std::string& text, const Shape& shape) {
    std::istringstream parts(text);
    std::string name;
    std::getline(parts, name, ':');
    const Algorithm* algorithm = find_algorithm(collective, name);
    const std::string whole = std::string(collective) + "/" + text;
    if (algorithm == nullptr) throw std::runtime_error("there is no algorithm " + whole);
    BoundAlgorithm bound{algorithm, shape};
    const auto& parameters = algorithm->parameters;
    for (std::size_t i = 0; i < parameters.size(); ++i) bound.shape.parameters.at(i) = parameters[i].standard;
    for (std::string part; std::getline(parts, part, ',');) {
        const auto equals = part.find('=');
        const auto found = std::ranges::find(parameters, part.substr(0, equals), &Parameter::name);
        if (equals == std::string::npos || found == parameters.end()) {
            throw std::runtime_error(whole + ": no parameter " + part);
        }
        const auto value = std::stoll(part.substr(equals + 1));
        if (value < found->least) {
            throw std::runtime_error(whole + ": " + part + " is under " + std::to_string(found->least));
        }
        bound.shape.parameters.at(static_cast<std::size_t>(found - parameters.begin())) = value;
    }
    if (!algorithm->restrictions.admit(bound.shape)) {
        throw std::runtime_error(whole + " applies only where: " + algorithm->restrictions.text());
    }
    return bound;
}

}  // namespace timpani
