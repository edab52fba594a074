#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace timpani {

/// One JSON object, built field by field in order: `JsonObject().add("cell", 3).text()` is `{"cell":3}`.
class JsonObject {
  public:
    JsonObject& add(std::string_view name, std::int64_t value);
    JsonObject& add(std::string_view name, int value) { return add(name, static_cast<std::int64_t>(value)); }
    JsonObject& add(std::string_view name, double value);
    JsonObject& add(std::string_view name, bool value);
    JsonObject& add(std::string_view name, std::string_view value);
    JsonObject& add(std::string_view name, const char* value) { return add(name, std::string_view(value)); }
    JsonObject& add(std::string_view name, std::span<const std::int64_t> values);
    /// A value that is JSON already.
    JsonObject& add_json(std::string_view name, std::string_view json);

    [[nodiscard]] std::string text() const { return text_ + "}"; }

  private:
    std::string text_ = "{";
};

/// `text` as a JSON string with its quotes.
std::string json_string(std::string_view text);

/// The items, which are JSON already, as a JSON array.
std::string json_array(std::span<const std::string> items);

}  // namespace timpani
