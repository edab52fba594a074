#pragma once

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/collective.hpp"
#include "schedule/algorithm.hpp"

namespace timpani {

/// Integers from `low` to `high`, both included.
struct Range {
    std::int64_t low = 0;
    std::int64_t high = std::numeric_limits<std::int64_t>::max();

    [[nodiscard]] bool contains(std::int64_t value) const { return low <= value && value <= high; }
    [[nodiscard]] bool is_unbounded() const { return *this == Range{}; }
    friend bool operator==(const Range&, const Range&) = default;
};

/// Where one algorithm replaces the library's choice: one of Timpani's, or another of the library's. `per_node` is the
/// maximum number of ranks on a node. `bytes` is the collective's `message_bytes` as in studies, for a v-collective the
/// mean block.
struct Rule {
    std::string_view collective;
    Range ranks;
    Range nodes;
    Range per_node;
    Range bytes;
    std::string site;                      // as `site_text` has it; empty: every place.
    const Algorithm* algorithm = nullptr;  // nullptr: one of the library's
    std::vector<std::int64_t> parameters;  // as CollectiveArguments has them
    std::string text;                      // the algorithm as the rule names it
    Controls at_creation;                  // that choose one of the library's for a new communicator,
    Controls at_call;                      // or at a call

    [[nodiscard]] bool chooses_in_library() const { return !at_creation.empty() || !at_call.empty(); }
    /// Whether calls that match are not left to the library's choice.
    [[nodiscard]] bool replaces() const { return algorithm != nullptr || chooses_in_library(); }
    /// Whether calls that match either rule run the same algorithm.
    [[nodiscard]] bool same_algorithm(const Rule& other) const {
        return algorithm == other.algorithm && parameters == other.parameters && at_creation == other.at_creation &&
               at_call == other.at_call;
    }
};

/// Why a text is not a valid list of rules: another version, or a mistake.
struct RulesError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Reads rules. The first rule that matches a call decides:
///
///     timpani-rules 1
///     bcast ranks=8..8 nodes=4..4 per_node=2..2 bytes=65536.. pipeline:segment_bytes=65536
///     bcast site=app+0x11d4 openmpi/linear@coll_tuned_bcast_algorithm=1@
///     end 2
///
/// The second is an algorithm of the library. Its control variables follow: those that hold while a communicator is
/// created, and after the second `@` those that hold at a call.
///
/// Every range may be omitted, and so may its upper end. `site` is the place of the call in the program. `#` starts a
/// comment. The last line has the number of rules, which reveals a file that was cut off. Throws RulesError with the
/// number of the line.
std::vector<Rule> read_rules(std::string_view text);

/// The text of a file of rules. Throws RulesError if it is not a regular file (a pipe might never end), larger than a
/// file of rules can be, or can't be read.
std::string text_of_rules(const std::string& path);

/// The group of nodes that contains `host`, as a name. It is its place in `groups` (`n1,n2;n3,n4`), else the switches
/// in `slurm_address` (`s0.s4.n3`, Slurm's SLURM_TOPOLOGY_ADDR) if that is this host's, else empty. Hosts are compared
/// up to the first dot.
std::string group_of(std::string_view host, std::string_view groups, std::string_view slurm_address);

}  // namespace timpani
