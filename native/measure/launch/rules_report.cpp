#include "measure/launch/rules_report.hpp"

#include <dlfcn.h>

#include "measure/cell/check_result.hpp"

namespace timpani {

std::optional<std::string> rules_not_followed(const Harness& harness, const std::string& collective) {
    using Refusal = const char* (*)(const char*);
    static const auto refusal = reinterpret_cast<Refusal>(dlsym(RTLD_DEFAULT, "timpani_refusal"));
    const char* const why = refusal == nullptr ? "libtimpani.so is not loaded" : refusal(collective.c_str());
    return first_mistake(harness,
                         why == nullptr ? std::nullopt : std::optional("rules not followed: " + std::string(why)));
}

}  // namespace timpani
