#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

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

/// The record, open at rank 0 only. One call writes each line, so a killed launch leaves whole lines. `cell.txt` next
/// to it has the number of the cell that is being called.
class Record {
  public:
    explicit Record(const char* path)
        : file_(open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666)),
          cell_(open((std::filesystem::path(path).parent_path() / "cell.txt").c_str(),
                     O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
        if (file_ < 0 || cell_ < 0) throw std::runtime_error(std::string("the record ") + path + " can't be opened");
    }
    ~Record() {
        close(file_);
        close(cell_);
    }
    Record(const Record&) = delete;
    Record& operator=(const Record&) = delete;

    /// Writes a JSON object; its last field is the checksum of all characters before it.
    void line(std::string object) const {
        const std::string whole = with_checksum(std::move(object));
        if (write(file_, whole.data(), whole.size()) != static_cast<ssize_t>(whole.size())) {
            throw std::runtime_error("the record can't be written: is the disk full?");
        }
    }

    /// Records which cell is called from now on; −1: no cell.
    void under_way(int cell) const {
        std::array<char, 12> text{};
        const int length = std::snprintf(text.data(), text.size(), "%10d\n", cell);
        if (pwrite(cell_, text.data(), static_cast<std::size_t>(length), 0) != length) {
            throw std::runtime_error("the record can't be written: is the disk full?");
        }
    }

  private:
    int file_;
    int cell_;
};

}  // namespace timpani
