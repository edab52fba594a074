#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace timpani {

/// The ranks that a sum contains and the order in which they were added; a sum without an order is an unwritten
/// element.
struct Summands {
    int lowest = 0;  // rank
    std::string order{};

    [[nodiscard]] bool written() const { return !order.empty(); }
    static Summands contribution_of(int rank, std::int64_t /*index*/, bool /*commutative*/) {
        return {rank, std::to_string(rank)};
    }
    friend bool operator==(const Summands&, const Summands&) = default;
};

/// The sum of both. An addition of two numbers commutes, so the side with the lowest rank comes first.
inline Summands compose(const Summands& left, const Summands& right) {
    const auto& [one, other] = left.lowest < right.lowest ? std::pair(left, right) : std::pair(right, left);
    return {one.lowest, "[" + one.order + "," + other.order + "]"};
}

}  // namespace timpani
