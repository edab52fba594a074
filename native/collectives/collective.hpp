#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace timpani {

/// One call of a collective: how many ranks take part, the elements that its size counts, and the root.
struct Shape {
    int ranks;
    std::int64_t count;
    int root;
};

/// Where an element of a result comes from: the sum over ranks [first_rank, last_rank] of their element `index`.
/// For collectives that only move data the two ranks are the same.
struct Origin {
    int first_rank;
    int last_rank;
    std::int64_t index;
};

/// What the harness and the verifier must know of a collective, and nothing of MPI.
struct Collective {
    std::string_view name;
    bool reduces;
    /// Elements of the buffer that rank contributes from, and of the one that it receives into.
    std::int64_t (*send_elements)(const Shape&, int rank);
    std::int64_t (*receive_elements)(const Shape&, int rank);
    /// Where element `i` of rank's receive buffer comes from; nothing where MPI leaves it undefined.
    std::optional<Origin> (*origin)(const Shape&, int rank, std::int64_t i);
};

/// All collectives, in the order of MPI's chapter on them.
std::span<const Collective> collectives();

/// The collective of that name, or nullptr.
const Collective* find_collective(std::string_view name);

/// The first element and the number of elements of `rank`'s part when `count` elements are dealt out as evenly as
/// whole elements allow, the longer parts first.
struct Part {
    std::int64_t first;
    std::int64_t count;
};
Part part_of(std::int64_t count, int ranks, int rank);

/// The value that `rank` of `ranks` contributes as its element `index`, and the value of an element with that origin.
///
/// Where data is only moved, values tell ranks and places apart. Where it is added, every sum stays below 256 up to
/// 1,700 ranks, since bytes that overflow add up differently from library to library: Open MPI's vector operators
/// saturate, its scalar ones wrap round.
std::uint64_t contribution(const Collective& collective, int ranks, int rank, std::int64_t index);
std::uint64_t expected(const Collective& collective, int ranks, const Origin& origin);

}  // namespace timpani
