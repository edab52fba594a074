#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace timpani {

/// A setting of an algorithm. Values are whole numbers; `minimum` is the smallest that makes sense.
struct Parameter {
    std::string_view name;
    std::int64_t default_value;
    std::int64_t minimum;
    std::string_view meaning;
    /// The values that libraries choose, where the value decides which ranks exchange messages: an algorithm is
    /// recognised from counted messages by these. Empty where it decides only how data is cut into messages or how many
    /// are under way at once.
    std::span<const std::int64_t> trial_values{};
};

/// Of the radix of a tree or of an exchange, and of the chains that start or end at a root.
constexpr std::array<std::int64_t, 5> kTrialRadices{2, 3, 4, 8, 16};
constexpr std::array<std::int64_t, 5> kTrialFanouts{1, 2, 3, 4, 8};

/// `name[:parameter=integer,…]`, cut at the colon.
struct NamedText {
    std::string name;
    std::string parameters;
};
NamedText split_name(const std::string& text);

/// Values of `parameters`, in their order, from `parameter=integer,…`; those not named take their default values.
/// Throws std::runtime_error, which begins with `whose`, for an unknown parameter or a value that makes no sense.
std::vector<std::int64_t> read_parameters(const std::string& text, std::span<const Parameter> parameters,
                                          const std::string& whose);

}  // namespace timpani
