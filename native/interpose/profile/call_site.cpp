#include "interpose/profile/call_site.hpp"

#include <dlfcn.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <unordered_map>

namespace timpani {

std::string site_text(const void* address) {
    Dl_info object{};
    if (address == nullptr || dladdr(address, &object) == 0 || object.dli_fname == nullptr) return "";
    const char* const slash = std::strrchr(object.dli_fname, '/');
    const auto offset = reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(object.dli_fbase);
    std::array<char, 20> text{};
    std::snprintf(text.data(), text.size(), "+0x%zx", static_cast<std::size_t>(offset));
    return std::string(slash == nullptr ? object.dli_fname : slash + 1) + text.data();
}

const std::string& known_site_text(const void* address) {
    static thread_local std::unordered_map<const void*, std::string> known;
    const auto [place, is_new] = known.try_emplace(address);
    if (is_new) place->second = site_text(address);
    return place->second;
}

}  // namespace timpani
