#include "interpose/rules/rules.hpp"

#include <cstdint>
#include <string>

#include "tests/check.hpp"

namespace {

using timpani::read_rules;

const std::string kGood =
    "timpani-rules 1\n"
    "# as measured\n"
    "bcast ranks=8..8 nodes=4..4 per_node=2..2 bytes=65536.. pipeline:segment_bytes=65536\n"
    "\n"
    "bcast default   # anywhere else\n"
    "end 2\n";

std::string wrong_with(const std::string& text) {
    try {
        read_rules(text);
    } catch (const timpani::RulesError& error) {
        return error.what();
    }
    return "";
}

std::string one(const std::string& rule) { return wrong_with("timpani-rules 1\n" + rule + "\nend 1\n"); }

}  // namespace

TEST(rules_are_read_in_their_order) {
    const auto rules = read_rules(kGood);
    CHECK(rules.size() == 2);
    CHECK(rules[0].algorithm == timpani::find_algorithm("bcast", "pipeline"));
    CHECK(rules[0].parameters == std::vector<std::int64_t>{65536});
    CHECK((rules[0].ranks == timpani::Range{8, 8}));
    CHECK((rules[0].per_node == timpani::Range{2, 2}));
    CHECK(rules[0].bytes.low == 65536 && rules[0].bytes.contains(std::int64_t{1} << 50));
    CHECK(!rules[1].replaces() && rules[1].bytes.is_unbounded());
}

TEST(a_rule_may_name_an_algorithm_of_the_library) {
    const auto rules =
        read_rules("timpani-rules 1\nbcast openmpi/chain:fanout=2@a=1,b=2@c=3\nbcast mpich/x@@d=4\nend 2\n");
    CHECK(rules[0].replaces() && rules[0].algorithm == nullptr);
    CHECK(rules[0].text == "openmpi/chain:fanout=2");
    CHECK((rules[0].at_creation == timpani::Controls{{"a", 1}, {"b", 2}}));
    CHECK((rules[0].at_call == timpani::Controls{{"c", 3}}));
    CHECK(rules[1].at_creation.empty() && rules[1].replaces());
}

TEST(a_rule_may_name_a_place_in_the_program) {
    const auto rules = read_rules("timpani-rules 1\nbcast site=my+app+0x11d4 bytes=8.. linear\nbcast linear\nend 2\n");
    CHECK(rules[0].site == "my+app+0x11d4" && rules[0].bytes.low == 8 && rules[1].site.empty());
    CHECK(rules[0].same_algorithm(rules[1]));
    for (const char* site : {"", "app", "+0x1", "app+0x", "app+12", "app+0x12G"})
        CHECK(one("bcast site=" + std::string(site) + " linear").find("is not a place in a program") !=
              std::string::npos);
    CHECK(one("bcast site=a+0x1 site=a+0x2 linear") == "line 2: site is given twice");
}

TEST(a_wrong_line_is_named) {
    CHECK(one("bcats linear") == "line 2: there is no collective bcats");
    CHECK(one("b\x1b[1m\xff linear") == "line 2: there is no collective b?[1m?");
    CHECK(one(std::string(5000, '9') + " linear").size() < 400);
    CHECK(one("bcast") == "line 2: a rule ends with an algorithm, or with default");
    CHECK(one("bcast rank=1..2 linear").starts_with("line 2: rank=1..2 is not one of"));
    CHECK(one("bcast ranks=1..2 ranks=3..4 linear") == "line 2: ranks is given twice");
    for (const char* range : {"8", "8..4", "..4", "-1..4", "1...2", "1..2x", "a..b", "1..99999999999999999999", ""}) {
        CHECK(one("bcast bytes=" + std::string(range) + " linear").find("is not a range") != std::string::npos);
    }
    CHECK(one("bcast pipeline:segment_bytes=-1").starts_with("line 2: "));
    for (const char* word :
         {"o/x@", "@@", "@a=1@", "o/x@a=1", "o/x@@", "o/x@a@", "o/x@=1@", "o/x@a=-1@", "o/x@a=9999999999@"})
        CHECK(one("bcast " + std::string(word)).starts_with("line 2: "));
    CHECK(one("bcast pipeline:segments=1").starts_with("line 2: "));
    CHECK(wrong_with("timpani-rules 1\nend 1\n") == "line 2: the last line does not count 0 rules");
    CHECK(wrong_with("timpani-rules 1\nend 0\nbcast linear\n") == "line 3: something follows the last line");
    CHECK(wrong_with("timpani-rules 7\n").find("version 7") != std::string::npos);
}

TEST(a_file_cut_off_anywhere_is_no_file) {
    // Nothing is missing after the count of the rules.
    for (std::size_t length = 0; length + 1 < kGood.size(); ++length)
        CHECK(!wrong_with(kGood.substr(0, length)).empty());
    CHECK(wrong_with(kGood).empty());
}

TEST(any_text_is_read_or_refused) {
    std::uint32_t state = 20;
    const auto random = [&state] { return (state = state * 1664525U + 1013904223U) >> 8; };  // Numerical Recipes'
    const std::string alphabet = "bcastendflinear=.:#- \n\t0123456789\xff";
    for (int trial = 0; trial < 3000; ++trial) {
        std::string text = kGood;
        for (int change = 0; change < 1 + trial % 4; ++change) {
            const auto place = random() % text.size();
            text.replace(place, random() % 3, 1, alphabet[random() % alphabet.size()]);
        }
        const auto wrong = wrong_with(text);  // no other exception is thrown
        CHECK(wrong.empty() || wrong.starts_with("line "));
    }
}

TEST(groups_come_from_a_list_or_from_slurm) {
    using timpani::group_of;
    CHECK(group_of("n3", "n1,n2;n3,n4", "") == group_of("n4.cluster", "n1,n2;n3,n4", ""));
    CHECK(group_of("n2", "n1,n2;n3,n4", "") != group_of("n3", "n1,n2;n3,n4", ""));
    CHECK(group_of("n", "n1,n2;;,", "").empty());
    CHECK(group_of("n3", "", "s0.s4.n3") == "s0.s4");
    CHECK(group_of("n3.cluster", "n1", "s0.n3") == "s0");
    CHECK(group_of("n3", "", "s0.s4.n7").empty());  // the variable of another node, passed on
    CHECK(group_of("n3", "", "n3").empty());
}
