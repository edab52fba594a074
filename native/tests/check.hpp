#pragma once

#include <functional>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

// A test is a named function that registers itself. CHECK counts what does not hold and continues.
namespace timpani::test {

struct Test {
    std::string_view name;
    std::function<void()> body;
};

inline std::vector<Test>& tests() {
    static std::vector<Test> all;
    return all;
}

inline int& failures() {
    static int count = 0;
    return count;
}

struct Register {
    Register(std::string_view name, std::function<void()> body) { tests().push_back({name, std::move(body)}); }
};

inline void check(bool holds, std::string_view what, std::string_view file, int line) {
    if (holds) return;
    ++failures();
    std::cerr << file << ':' << line << ": " << what << " does not hold\n";
}

inline int run_all() {
    for (const auto& test : tests()) {
        const int before = failures();
        test.body();
        std::cout << (failures() == before ? "ok   " : "FAIL ") << test.name << '\n';
    }
    std::cout << tests().size() << " tests, " << failures() << " failed checks\n";
    return failures() == 0 ? 0 : 1;
}

}  // namespace timpani::test

#define TEST(name)                                                            \
    static void name();                                                       \
    static const timpani::test::Register registration_of_##name(#name, name); \
    static void name()
#define CHECK(condition) timpani::test::check((condition), #condition, __FILE__, __LINE__)
