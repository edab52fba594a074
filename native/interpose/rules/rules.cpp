#include "interpose/rules/rules.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <utility>

#include "schedule/algorithm.hpp"

namespace timpani {

namespace {

constexpr std::string_view kName = "timpani-rules";
constexpr std::string_view kVersion = "1";
constexpr std::string_view kOwn = "default";
constexpr std::string_view kSite = "site";
constexpr char kControls = '@';                 // before each list of control variables
constexpr std::uintmax_t kMaxBytes = 16 << 20;  // a hundred times the size of rules for all algorithms and sizes
constexpr std::size_t kMaxErrorLength = 300;    // characters of an error that are printed

using Words = std::vector<std::string>;

Words words_of(const std::string& line) {
    std::istringstream words(line.substr(0, line.find('#')));
    return {std::istream_iterator<std::string>(words), {}};
}

std::optional<std::int64_t> whole_number(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < 0) return std::nullopt;
    return value;
}

/// An error that quotes the file, as one line that is safe for a terminal.
std::string shown(std::string_view error) {
    std::string text(error.substr(0, kMaxErrorLength));
    std::ranges::replace_if(text, [](unsigned char each) { return each < ' ' || each > '~'; }, '?');
    return error.size() > kMaxErrorLength ? text + " ..." : text;
}

Range read_range(std::string_view word, std::string_view text) {
    const auto dots = text.find("..");
    const auto low = whole_number(text.substr(0, dots));
    const bool open = dots + 2 == text.size();
    const auto high = dots == std::string_view::npos || open ? std::nullopt : whole_number(text.substr(dots + 2));
    if (dots == std::string_view::npos || !low || (!open && !high) || (high && *high < *low)) {
        throw RulesError(std::string(word) + " is not a range such as 8..16 or 8..");
    }
    return high ? Range{*low, *high} : Range{.low = *low};
}

/// `app+0x11d4`, as a profile has it.
void check_site(std::string_view site) {
    const auto plus = site.rfind("+0x");
    const bool hexadecimal = plus != std::string_view::npos && plus > 0 && plus + 3 < site.size() &&
                             site.find_first_not_of("0123456789abcdef", plus + 3) == std::string_view::npos;
    if (!hexadecimal) throw RulesError(std::string(site) + " is not a place in a program such as app+0x11d4");
}

Rule read_rule(const Words& words) {
    constexpr std::array<std::pair<std::string_view, Range Rule::*>, 4> kinds{
        {{"ranks", &Rule::ranks}, {"nodes", &Rule::nodes}, {"per_node", &Rule::per_node}, {"bytes", &Rule::bytes}}};
    Rule rule;
    const Collective* collective = find_collective(words.front());
    if (collective == nullptr) throw RulesError("there is no collective " + words.front());
    rule.collective = collective->name;
    if (words.size() == 1) throw RulesError("a rule ends with an algorithm, or with default");
    std::vector<std::string_view> given;
    for (std::size_t i = 1; i + 1 < words.size(); ++i) {
        const std::string_view word = words[i];
        const auto equals = std::min(word.find('='), word.size());
        const auto name = word.substr(0, equals);
        if (std::ranges::count(given, name) > 0) throw RulesError(std::string(name) + " is given twice");
        given.push_back(name);
        if (name == kSite && equals < word.size()) {
            rule.site = word.substr(equals + 1);
            check_site(rule.site);
            continue;
        }
        const auto* kind = std::ranges::find(kinds, name, &decltype(kinds)::value_type::first);
        if (kind == kinds.end() || equals == word.size()) {
            throw RulesError(words[i] + " is not one of ranks=, nodes=, per_node=, bytes=, site=");
        }
        rule.*(kind->second) = read_range(word, word.substr(equals + 1));
    }
    const auto named_until = words.back().find(kControls);
    rule.text = words.back().substr(0, named_until);
    if (named_until != std::string_view::npos) {
        const auto controls = std::string_view(words.back()).substr(named_until + 1);
        const auto second = controls.find(kControls);
        if (rule.text.empty() || second == std::string_view::npos) {
            throw RulesError(words.back() + " is not an algorithm such as openmpi/linear@name=1@");
        }
        rule.at_creation = read_controls(controls.substr(0, second));
        rule.at_call = read_controls(controls.substr(second + 1));
        if (!rule.chooses_in_library()) throw RulesError(rule.text + " has no control variables");
        return rule;
    }
    if (rule.text == kOwn) return rule;
    NamedAlgorithm named = read_algorithm(rule.collective, rule.text);
    rule.algorithm = named.algorithm;
    rule.parameters = std::move(named.parameters);
    return rule;
}

void check_first_line(const Words& words) {
    if (words.empty() || words.front() != kName || words.size() != 2) {
        throw RulesError("rules begin with '" + std::string(kName) + " " + std::string(kVersion) + "'");
    }
    if (words.back() != kVersion) {
        throw RulesError("rules of version " + words.back() + ", where this library reads " + std::string(kVersion));
    }
}

std::string_view short_name(std::string_view host) { return host.substr(0, host.find('.')); }

}  // namespace

std::string text_of_rules(const std::string& path) {
    std::error_code problem;
    const auto kind = std::filesystem::status(path, problem).type();
    if (kind == std::filesystem::file_type::directory) throw RulesError(std::strerror(EISDIR));
    if (kind != std::filesystem::file_type::regular)
        throw RulesError(problem ? problem.message() : "is not a regular file");
    const std::uintmax_t bytes = std::filesystem::file_size(path, problem);
    if (bytes > kMaxBytes)
        throw RulesError("is larger than " + std::to_string(kMaxBytes >> 20) + " MiB, so no file of rules");
    std::ifstream file(path, std::ios::binary);
    std::string text(bytes, '\0');
    file.read(text.data(), static_cast<std::streamsize>(bytes));
    if (!file) throw RulesError(std::strerror(errno));
    return text;
}

std::vector<Rule> read_rules(std::string_view text) {
    std::istringstream lines{std::string(text)};
    std::vector<Rule> rules;
    bool ended = false;
    std::size_t number = 0;
    try {
        for (std::string line; std::getline(lines, line);) {
            const Words words = words_of(line);
            if (++number == 1) {
                check_first_line(words);
            } else if (words.empty()) {
                continue;
            } else if (ended) {
                throw RulesError("something follows the last line");
            } else if (words.front() == "end") {
                ended = words.size() == 2 && whole_number(words.back()) == static_cast<std::int64_t>(rules.size());
                if (!ended) throw RulesError("the last line does not count " + std::to_string(rules.size()) + " rules");
            } else {
                rules.push_back(read_rule(words));
            }
        }
        if (number == 0) check_first_line({});
        if (!ended) throw RulesError("cut off: no last line 'end " + std::to_string(rules.size()) + "'");
    } catch (const std::runtime_error& error) {
        throw RulesError("line " + std::to_string(std::max<std::size_t>(number, 1)) + ": " + shown(error.what()));
    }
    return rules;
}

std::string group_of(std::string_view host, std::string_view groups, std::string_view slurm_address) {
    const auto name = short_name(host);
    for (int number = 0; !groups.empty();) {
        const auto end = std::min(groups.find_first_of(",;"), groups.size());
        if (short_name(groups.substr(0, end)) == name) return "group " + std::to_string(number);
        number += groups.substr(end, 1) == ";" ? 1 : 0;
        groups.remove_prefix(std::min(end + 1, groups.size()));
    }
    const auto dot = slurm_address.rfind('.');
    if (dot == std::string_view::npos || slurm_address.substr(dot + 1) != name) return {};
    return std::string(slurm_address.substr(0, dot));
}

}  // namespace timpani
