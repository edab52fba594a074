#include "schedule/parameters.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <system_error>

namespace timpani {

NamedText split_name(const std::string& text) {
    const auto colon = text.find(':');
    return {text.substr(0, colon), colon == std::string::npos ? "" : text.substr(colon + 1)};
}

std::vector<std::int64_t> read_parameters(const std::string& text, std::span<const Parameter> parameters,
                                          const std::string& whose) {
    std::vector<std::int64_t> values;
    for (const auto& parameter : parameters) values.push_back(parameter.default_value);
    std::istringstream parts(text);
    for (std::string part; std::getline(parts, part, ',');) {
        const auto equals = part.find('=');
        const auto found = std::ranges::find(parameters, part.substr(0, equals), &Parameter::name);
        if (equals == std::string::npos || found == parameters.end()) {
            throw std::runtime_error(whose + ": no parameter " + part);
        }
        std::int64_t value = 0;
        const char* const end = part.data() + part.size();
        const auto [read, error] = std::from_chars(part.data() + equals + 1, end, value);
        const bool whole = read == end && equals + 1 < part.size();
        if (!whole) throw std::runtime_error(whose + ": " + part + " is not a whole number");
        if (error == std::errc::result_out_of_range || value > std::numeric_limits<int>::max()) {
            throw std::runtime_error(whose + ": " + part + " is too large");
        }
        if (value < found->minimum) {
            throw std::runtime_error(whose + ": " + part + " is under " + std::to_string(found->minimum));
        }
        values[static_cast<std::size_t>(found - parameters.begin())] = value;
    }
    return values;
}

}  // namespace timpani
