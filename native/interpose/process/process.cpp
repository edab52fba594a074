#include "interpose/process/process.hpp"

#include <algorithm>
#include <cstdio>
#include <functional>

#include "interpose/profile/call_site.hpp"

namespace timpani {

namespace {

RulesFile read_file(const std::string& path) {
    if (path.empty()) return {};
    std::string text;
    try {
        text = text_of_rules(path);
    } catch (const RulesError& error) {
        return {.problem = path + ": " + error.what()};
    }
    try {
        // One bit shorter, so its negative is also representable.
        const auto fingerprint = static_cast<std::int64_t>(std::hash<std::string>{}(text) >> 1);
        return {.rules = read_rules(text), .fingerprint = fingerprint};
    } catch (const RulesError& error) {
        return {.problem = path + ", " + error.what()};
    }
}

}  // namespace

Process::Process() : settings(read_settings()), rules(settings.idle() ? RulesFile{} : read_file(settings.rules)) {
    counting = settings.counts() && !settings.off;
    proving = counting && settings.proves;
    counting_sites = counting && settings.sites;
    marking_sites =
        counting_sites || std::ranges::any_of(rules.rules, [](const Rule& rule) { return !rule.site.empty(); });
    interception = settings.idle() ? Interception::off : Interception::on;
}

Process& Process::get() {
    static Process& process = *new Process;
    return process;
}

void Process::warn_once(std::string_view text) {
    if (warned_.test_and_set()) return;
    std::fprintf(stderr, "timpani: %.*s\n", static_cast<int>(text.size()), text.data());
}

void Process::refuse(std::string_view why) {
    if (refusal_.empty()) refusal_ = why;
}

}  // namespace timpani
