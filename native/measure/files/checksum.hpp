#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
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

}  // namespace timpani
