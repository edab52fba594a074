#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace timpani {

/// A setting of an algorithm. Values are integers; `minimum` is the smallest valid one.
struct Parameter {
    std::string_view name;
    std::int64_t default_value;
    std::int64_t minimum;
    std::string_view meaning;
    /// The values that libraries choose, if the value decides which ranks exchange messages: counted messages identify
    /// an algorithm by these. Empty if the value decides only how data is cut into messages or how many are under way.
    std::span<const std::int64_t> trial_values{};
};

/// For the radix of a tree or an exchange, and for the number of chains at a root.
constexpr std::array<std::int64_t, 5> kTrialRadices{2, 3, 4, 8, 16};
constexpr std::array<std::int64_t, 5> kTrialFanouts{1, 2, 3, 4, 8};

/// Of a k-nomial tree.
constexpr Parameter kKnomialRadix{"radix", 4, 2, "base of the digits, one more than a rank's children for each",
                                  kTrialRadices};

/// Of a pipeline.
constexpr Parameter segment_bytes_parameter(std::int64_t default_value) {
    return {"segment_bytes", default_value, 0, "bytes of a segment; 0 sends the message whole"};
}

/// `name[:parameter=integer,…]`, split at the colon.
struct NamedText {
    std::string name;
    std::string parameters;
};
NamedText split_name(const std::string& text);

/// Values of `parameters`, in their order, from `parameter=integer,…`. Parameters that are not named take their default
/// values. Throws std::runtime_error, whose message starts with `whose`, for an unknown parameter or an invalid value.
std::vector<std::int64_t> read_parameters(const std::string& text, std::span<const Parameter> parameters,
                                          const std::string& whose);

}  // namespace timpani
