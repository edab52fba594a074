#include "json/json.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace timpani {

namespace {

template <typename Number>
void append_number(std::string& text, Number value) {
    std::array<char, 32> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    text.append(digits.data(), end);
}

}  // namespace

std::string json_string(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (static_cast<unsigned char>(c) < 0x20) {
            std::array<char, 8> escape{};
            std::snprintf(escape.data(), escape.size(), "\\u%04x", static_cast<unsigned>(c));
            out += escape.data();
        } else {
            out += c;
        }
    }
    return out + "\"";
}

std::string json_array(std::span<const std::string> items) {
    std::string out = "[";
    for (const auto& item : items) {
        if (out.size() > 1) out += ',';
        out += item;
    }
    return out + "]";
}

JsonObject& JsonObject::add_json(std::string_view name, std::string_view json) {
    if (text_.size() > 1) text_ += ',';
    text_ += json_string(name);
    text_ += ':';
    text_ += json;
    return *this;
}

JsonObject& JsonObject::add(std::string_view name, std::int64_t value) { return add_json(name, std::to_string(value)); }

JsonObject& JsonObject::add(std::string_view name, double value) {
    if (!std::isfinite(value)) return add_json(name, "null");
    std::string digits;
    append_number(digits, value);
    return add_json(name, digits);
}

JsonObject& JsonObject::add(std::string_view name, bool value) { return add_json(name, value ? "true" : "false"); }

JsonObject& JsonObject::add(std::string_view name, std::string_view value) {
    return add_json(name, json_string(value));
}

JsonObject& JsonObject::add(std::string_view name, std::span<const std::int64_t> values) {
    std::string list = "[";
    for (const auto value : values) {
        if (list.size() > 1) list += ',';
        append_number(list, value);
    }
    return add_json(name, list + "]");
}

}  // namespace timpani
