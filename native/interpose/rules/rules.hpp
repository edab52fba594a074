#pragma once

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "schedule/algorithm.hpp"

namespace timpani {

/// Whole numbers from `low` to `high`, both among them.
struct Range {
    std::int64_t low = 0;
    std::int64_t high = std::numeric_limits<std::int64_t>::max();

    [[nodiscard]] bool contains(std::int64_t value) const { return low <= value && value <= high; }
    [[nodiscard]] bool is_unbounded() const { return *this == Range{}; }
    friend bool operator==(const Range&, const Range&) = default;
};

/// Where one algorithm replaces the library's own. `per_node` is the most ranks on a node; `bytes` what a study's
/// `message_bytes` counts for the collective, a v-collective's mean block.
struct Rule {
    std::string_view collective;
    Range ranks;
    Range nodes;
    Range per_node;
    Range bytes;
    const Algorithm* algorithm = nullptr;  // nullptr: the library's own
    std::vector<std::int64_t> parameters;  // as CollectiveArguments has them
    std::string text;                      // the algorithm as the rule names it
};

/// Why a text is no rules: another version's, or where it is wrong.
struct RulesError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Reads rules, of which the first that matches a call decides:
///
///     timpani-rules 1
///     bcast ranks=8..8 nodes=4..4 per_node=2..2 bytes=65536.. pipeline:segment_bytes=65536
///     end 1
///
/// Every range may be left out, and so may its upper end. `#` begins a comment. The last line counts the rules: by it a
/// file that is cut off is known. Throws RulesError with the number of the line.
std::vector<Rule> read_rules(std::string_view text);

/// The text of a file of rules. Throws RulesError where it is no regular file, larger than a file of rules can be, or
/// cannot be read: a pipe would never end.
std::string text_of_rules(const std::string& path);

}  // namespace timpani
