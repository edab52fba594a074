#include "measure/cell/buffers.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <fstream>

namespace timpani {

namespace {

constexpr std::size_t kAlignment = 64;                 // bytes; buffers start on cache lines
constexpr std::int64_t kDefaultCacheBytes = 32 << 20;  // bytes, assumed if the system doesn't report it

std::size_t whole_lines(std::size_t bytes) {
    return std::max(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
}

/// The number of cores in a kernel list such as `0-3,8`.
std::int64_t count_list(std::istream&& list) {
    std::int64_t cores = 0;
    for (int first = 0; list >> first; list.ignore()) {  // the comma
        int last = first;
        if (list.peek() == '-') list.ignore() >> last;
        cores += last - first + 1;
    }
    return cores;
}

/// Calls `visit` for each piece of a buffer, with the index of its first element and memory for its values.
template <typename Visit>
void by_pieces(std::int64_t elements, Visit visit) {
    std::array<std::uint64_t, 1024> values;
    for (std::int64_t first = 0; first < elements; first += std::ssize(values)) {
        visit(first, Values(values).first(static_cast<std::size_t>(std::min(elements - first, std::ssize(values)))));
    }
}

}  // namespace

std::int64_t last_level_cache_share() {
    const int core = std::max(0, sched_getcpu());
    // Indices grow with the level, so the last one that exists is the last level.
    for (int index = 4; index >= 0; --index) {
        const std::string folder =
            "/sys/devices/system/cpu/cpu" + std::to_string(core) + "/cache/index" + std::to_string(index);
        std::ifstream size(folder + "/size");
        std::int64_t amount = 0;
        char unit = 0;
        if (!(size >> amount)) continue;
        size >> unit;
        amount *= unit == 'M' ? 1 << 20 : unit == 'K' ? 1 << 10 : 1;
        return amount / std::max<std::int64_t>(1, count_list(std::ifstream(folder + "/shared_cpu_list")));
    }
    return kDefaultCacheBytes;
}

void Buffers::prepare(const Operation& operation, CacheMode mode) {
    const auto& datatype = operation.datatype();
    const auto send_elements = operation.send_elements();
    const auto receive_elements = operation.receive_elements();
    send_stride_ = whole_lines(static_cast<std::size_t>(send_elements) * datatype.bytes);
    receive_stride_ = whole_lines(static_cast<std::size_t>(receive_elements) * datatype.bytes);
    mode_ = mode;
    slot_ = 0;
    const auto cache = mode == CacheMode::warm ? 0 : static_cast<std::size_t>(last_level_cache_share());
    slots_ = mode == CacheMode::rotate ? 2 * cache / (send_stride_ + receive_stride_) + 2 : 1;
    other_memory_.assign(mode == CacheMode::flush ? cache : 0, std::byte{1});
    // Grown, never shrunk: freeing memory between cells would add page faults to the timed calls.
    if (send_pool_.size() < slots_ * send_stride_) send_pool_.resize(slots_ * send_stride_);
    if (receive_pool_.size() < slots_ * receive_stride_) receive_pool_.resize(slots_ * receive_stride_);
    for (std::size_t slot = 0; slot < slots_; ++slot) {
        std::byte* const at = send_pool_.data() + slot * send_stride_;
        by_pieces(send_elements, [&](std::int64_t first, Values values) {
            operation.sent(first, values);
            datatype.write(at + static_cast<std::size_t>(first) * datatype.bytes, values);
        });
    }
}

void Buffers::between_calls() {
    if (mode_ == CacheMode::rotate) slot_ = (slot_ + 1) % slots_;
    for (std::size_t i = 0; i < other_memory_.size(); i += kAlignment) {
        read_ = read_ + std::to_integer<std::uint64_t>(other_memory_[i]);
    }
}

void Buffers::poison(const Operation& operation) {
    const auto& datatype = operation.datatype();
    by_pieces(operation.receive_elements(), [&](std::int64_t first, Values values) {
        operation.poison(first, values);
        datatype.write(receive() + static_cast<std::size_t>(first) * datatype.bytes, values);
    });
}

std::optional<std::string> Buffers::find_mistake(const Operation& operation) {
    const auto& datatype = operation.datatype();
    const auto elements = operation.receive_elements();
    std::optional<std::string> mistake;
    by_pieces(elements, [&](std::int64_t first, Values values) {
        if (mistake) return;
        operation.expected(first, values);
        const auto at = datatype.first_different(receive() + static_cast<std::size_t>(first) * datatype.bytes, values);
        if (at == values.size()) return;
        mistake = "wrong data: rank " + std::to_string(operation.rank()) + " element " +
                  std::to_string(first + static_cast<std::int64_t>(at)) + " of " + std::to_string(elements) +
                  " is not " + std::to_string(values[at]) + " as it should be";
    });
    return mistake;
}

}  // namespace timpani
