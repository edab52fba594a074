#include "measure/files/plan.hpp"

#include <array>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace timpani {

namespace {

template <typename Value, std::size_t N>
Value choice(const std::string& word, const std::array<std::pair<std::string_view, Value>, N>& choices) {
    for (const auto& [name, value] : choices) {
        if (name == word) return value;
    }
    throw std::runtime_error("unknown word '" + word + "'");
}

constexpr std::array kMethods{std::pair{std::string_view{"timpani"}, Method::timpani},
                              std::pair{std::string_view{"osu"}, Method::osu},
                              std::pair{std::string_view{"count_messages"}, Method::count_messages},
                              std::pair{std::string_view{"record_buffers"}, Method::record_buffers},
                              std::pair{std::string_view{"read_order"}, Method::read_order},
                              std::pair{std::string_view{"call"}, Method::call}};
constexpr std::array kStarts{std::pair{std::string_view{"round_time"}, Start::round_time},
                             std::pair{std::string_view{"barrier"}, Start::barrier}};
constexpr std::array kArrivals{std::pair{std::string_view{"one_late"}, ArrivalKind::one_late},
                               std::pair{std::string_view{"sorted"}, ArrivalKind::sorted},
                               std::pair{std::string_view{"random"}, ArrivalKind::random}};
constexpr std::array kDelayUnits{std::pair{std::string_view{"ns"}, false}, std::pair{std::string_view{"calls"}, true}};
constexpr std::array kModes{std::pair{std::string_view{"warm"}, CacheMode::warm},
                            std::pair{std::string_view{"rotate"}, CacheMode::rotate},
                            std::pair{std::string_view{"flush"}, CacheMode::flush}};

template <typename Value>
Value next(std::istringstream& words) {
    Value value;
    if (!(words >> value)) throw std::runtime_error("a value is missing or malformed");
    return value;
}

template <typename Value>
void read(std::istringstream& words, Value& value) {
    value = next<Value>(words);
}

template <typename Value>
void read(std::istringstream& words, std::optional<Value>& value) {
    value = next<Value>(words);
}

void read(std::istringstream& words, Method& method) { method = choice(next<std::string>(words), kMethods); }
void read(std::istringstream& words, Start& start) { start = choice(next<std::string>(words), kStarts); }
void read(std::istringstream& /*none*/, bool& flag) { flag = true; }

/// Reads the value of a key of plan_keys.def. Returns false if there is no such key.
bool parse_key(const std::string& key, std::istringstream& words, Plan& plan) {
    bool known = false;
#define PLAN_KEY(name, Type, initial, meaning) \
    if (key == #name) {                        \
        read(words, plan.name);                \
        known = true;                          \
    }
#include "measure/files/plan_keys.def"
    if (plan.lose_at && !(*plan.lose_at > 1)) throw std::runtime_error("lose_at is a factor over 1");
    return known;
}

/// `-` stands for an empty list.
Controls parse_controls(const std::string& text) { return text == "-" ? Controls{} : read_controls(text); }

CellPlan parse_cell(std::istringstream& words) {
    CellPlan cell;
    cell.id = next<int>(words);
    cell.operation = next<std::string>(words);
    cell.message_bytes = next<std::int64_t>(words);
    cell.mode = choice(next<std::string>(words), kModes);
    cell.at_creation = parse_controls(next<std::string>(words));
    cell.at_call = parse_controls(next<std::string>(words));
    if (const auto algorithm = next<std::string>(words); algorithm != "-") cell.algorithm = algorithm;
    return cell;
}

/// Adds a cell to the newest point, or as a separate point if no point has started.
void add_cell(CellPlan cell, bool to_newest, std::vector<Point>& points) {
    if (!to_newest || points.empty()) points.emplace_back();
    auto& cells = points.back().cells;
    if (!cells.empty()) {
        const CellPlan& first = cells.front();
        if (cell.operation != first.operation || cell.message_bytes != first.message_bytes || cell.mode != first.mode) {
            throw std::runtime_error("cells of a point have one operation, size and mode");
        }
    }
    cells.push_back(std::move(cell));
}

ArrivalPattern parse_arrival(std::istringstream& words) {
    ArrivalPattern arrival;
    arrival.kind = choice(next<std::string>(words), kArrivals);
    arrival.delay = next<double>(words);
    if (!(arrival.delay > 0)) throw std::runtime_error("a delay is over 0");
    arrival.in_calls = choice(next<std::string>(words), kDelayUnits);
    return arrival;
}

void parse_line(const std::string& key, std::istringstream& words, Plan& plan, bool& in_points) {
    if (key == "skew") {
        ClockSkew skew;
        skew.rank = next<int>(words);
        skew.offset_ns = next<std::int64_t>(words);
        skew.drift_ppm = next<double>(words);
        plan.skews.push_back(skew);
    } else if (key == "place") {
        plan.node_of_rank.push_back(next<int>(words));
        plan.group_of_rank.push_back(next<int>(words));
    } else if (key == "point") {
        in_points = true;
        Point& point = plan.points.emplace_back();
        if (!(words >> std::ws).eof()) {
            point.rounds = next<int>(words);
            if (point.rounds < 1) throw std::runtime_error("a point needs at least one round");
        }
    } else if (key == "arrival") {
        if (!in_points) throw std::runtime_error("an arrival pattern is a point's");
        plan.points.back().arrival = parse_arrival(words);
    } else if (key == "cell") {
        add_cell(parse_cell(words), in_points, plan.points);
    } else if (!parse_key(key, words, plan)) {
        throw std::runtime_error("unknown key '" + key + "'");
    }
    if (std::string rest; words >> rest) throw std::runtime_error("'" + rest + "' is one word too many");
}

}  // namespace

Plan parse_plan(const std::string& text) {
    std::istringstream lines(text);
    std::string line;
    if (!std::getline(lines, line) || line != "timpani-plan 1") {
        throw std::runtime_error("plan line 1: 'timpani-plan 1' expected");
    }
    Plan plan;
    bool in_points = false;
    for (int number = 2; std::getline(lines, line); ++number) {
        std::istringstream words(line.substr(0, line.find('#')));
        std::string key;
        if (!(words >> key)) continue;
        try {
            parse_line(key, words, plan, in_points);
        } catch (const std::exception& error) {
            throw std::runtime_error("plan line " + std::to_string(number) + ": " + error.what());
        }
    }
    return plan;
}

}  // namespace timpani
