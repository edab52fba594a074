#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace timpani {

inline constexpr auto kRestOfByte = [] {
    std::array<std::uint32_t, 256> rests{};
    for (std::uint32_t byte = 0; byte < rests.size(); ++byte) {
        std::uint32_t rest = byte;
        for (int bit = 0; bit < 8; ++bit) rest = (rest >> 1U) ^ ((rest & 1U) != 0 ? 0xEDB88320U : 0U);
        rests[byte] = rest;
    }
    return rests;
}();

/// CRC-32 of ISO 3309, as gzip and Python's zlib.crc32 compute it.
constexpr std::uint32_t crc32(std::string_view bytes) {
    std::uint32_t rest = ~0U;
    for (const char each : bytes) rest = (rest >> 8U) ^ kRestOfByte[(rest ^ static_cast<unsigned char>(each)) & 0xFFU];
    return ~rest;
}

/// The line for a JSON object, whose last field is the checksum of all characters before it.
inline std::string with_checksum(std::string object) {
    object.pop_back();  // its closing brace
    std::array<char, 24> end{};
    std::snprintf(end.data(), end.size(), ",\"crc32\":\"%08x\"}\n", static_cast<unsigned>(crc32(object)));
    return object + end.data();
}

}  // namespace timpani
