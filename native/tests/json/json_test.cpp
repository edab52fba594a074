#include "json/json.hpp"

#include <limits>
#include <vector>

#include "tests/check.hpp"

namespace timpani {

TEST(an_object_keeps_the_order_of_its_fields) {
    const std::vector<std::int64_t> values{1, -2, 3};
    const auto text = JsonObject().add("a", 1).add("b", 0.5).add("c", true).add("d", values).text();
    CHECK(text == R"({"a":1,"b":0.5,"c":true,"d":[1,-2,3]})");
    CHECK(JsonObject().text() == "{}");
}

TEST(text_is_escaped) {
    CHECK(json_string("a\"b\\c\nd") == R"("a\"b\\c\u000ad")");
    CHECK(JsonObject().add("host", "n\t1").text() == R"({"host":"n\u00091"})");
}

TEST(values_that_are_no_number_become_null) {
    CHECK(JsonObject().add("x", std::numeric_limits<double>::infinity()).text() == R"({"x":null})");
}

}  // namespace timpani
