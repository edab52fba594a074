#include "schedule/algorithm.hpp"

#include <algorithm>
#include <charconv>
#include <deque>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <tuple>

#include "schedule/arithmetic.hpp"

namespace timpani {

namespace {

/// The schedule of an algorithm that prepares nothing.
class FromFunctions final : public Schedule {
  public:
    FromFunctions(const Algorithm& algorithm, const CollectiveArguments& args)
        : rounds_(algorithm.rounds(args)), round_(algorithm.round), next_active_(algorithm.next_active), args_(args) {}

    [[nodiscard]] std::int64_t rounds() const override { return rounds_; }
    void round(int rank, std::int64_t k, Steps& steps) const override { round_(args_, rank, k, steps); }
    [[nodiscard]] std::int64_t next_active(int rank, std::int64_t k) const override {
        return next_active_ == nullptr ? k : next_active_(args_, rank, k);
    }

  private:
    std::int64_t rounds_;
    decltype(Algorithm::round) round_;
    decltype(Algorithm::next_active) next_active_;
    CollectiveArguments args_;
};

// Function-local: the algorithms' files register themselves before main, in an unspecified order. Never destroyed: a
// program may call the preloaded library until its process ends.
std::deque<Algorithm>& storage() {
    static auto& all = *new std::deque<Algorithm>;
    return all;
}

std::vector<const Algorithm*>& index() {
    static auto& all = *new std::vector<const Algorithm*>;
    return all;
}

}  // namespace

std::unique_ptr<const Schedule> prepare(const Algorithm& algorithm, const CollectiveArguments& args) {
    if (algorithm.prepare != nullptr) return algorithm.prepare(args);
    return std::make_unique<FromFunctions>(algorithm, args);
}

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

std::string Restrictions::text() const {
    std::string text;
    const auto add = [&text](bool holds, std::string_view words) {
        if (holds) text += (text.empty() ? "" : ", ") + std::string(words);
    };
    add(power_of_two, "power of two");
    add(even, "even");
    add(commutative, "commutative");
    add(topology, "known nodes");
    return text;
}

std::string_view Restrictions::refusal(const CollectiveArguments& args) const {
    if (commutative && !args.commutative) return "operator does not commute";
    const bool ranks = (!power_of_two || is_power_of_two(args.ranks)) && (!even || args.ranks % 2 == 0);
    if (!ranks || (topology && args.topology == nullptr)) return "algorithm does not apply to these ranks";
    return {};
}

void require_admitted(const Algorithm& algorithm, const CollectiveArguments& args) {
    if (algorithm.restrictions.admit(args)) return;
    throw std::runtime_error(std::string(algorithm.collective) + "/" + std::string(algorithm.name) +
                             " applies only where: " + algorithm.restrictions.text());
}

Symmetry symmetry_of(const Algorithm& algorithm, const CollectiveArguments& args) {
    const bool has_symmetry = algorithm.symmetry != nullptr && args.counts.empty() && args.ranks > 1;
    return has_symmetry ? algorithm.symmetry(args) : Symmetry::none;
}

Register::Register(Algorithm algorithm) {
    storage().push_back(std::move(algorithm));
    const Algorithm* entry = &storage().back();
    const auto key = [](const Algorithm* each) { return std::tie(each->collective, each->name); };
    index().insert(std::ranges::upper_bound(index(), key(entry), {}, key), entry);
}

RegisterWithV::RegisterWithV(Algorithm algorithm) {
    const Register with_equal_blocks(algorithm);
    algorithm.collective = find_collective(std::string(algorithm.collective) + "v")->name;
    const Register with_any_blocks(std::move(algorithm));
}

std::span<const Algorithm* const> algorithms() { return index(); }

const Algorithm* find_algorithm(std::string_view collective, std::string_view name) {
    const auto found = std::ranges::find_if(index(), [&](const Algorithm* each) {
        return each->collective == collective && (each->name == name || std::ranges::count(each->aliases, name) > 0);
    });
    return found == index().end() ? nullptr : *found;
}

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
