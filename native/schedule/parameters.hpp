#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace timpani {

/// A setting of an algorithm. Values are whole numbers; `least` is the smallest that makes sense.
struct Parameter {
    std::string_view name;
    std::int64_t standard;
    std::int64_t least;
    std::string_view meaning;
};

/// `name[:parameter=integer,…]`, cut at the colon.
struct NamedText {
    std::string name;
    std::string parameters;
};
NamedText split_name(const std::string& text);

/// Values of `parameters`, in their order, from `parameter=integer,…`; those not named take their standard values.
/// Throws std::runtime_error, which begins with `whose`, for an unknown parameter or a value that makes no sense.
std::vector<std::int64_t> read_parameters(const std::string& text, std::span<const Parameter> parameters,
                                          const std::string& whose);

}  // namespace timpani
