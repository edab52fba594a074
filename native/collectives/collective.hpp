#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace timpani {

class Topology;

/// One call of a collective: how many ranks take part, the elements that its size counts, and the root; and, for an
/// algorithm of ours, the bytes of an element, whether the operator commutes, and the algorithm's own parameters in the
/// order in which it names them.
struct Shape {
    int ranks;
    std::int64_t count;
    int root;
    std::int64_t element_bytes = 1;
    bool commutative = true;
    std::array<std::int64_t, 2> parameters{};
    /// Elements of each rank's block in a v-collective; in alltoallv of each block, sender by sender. Empty: all
    /// `count`.
    std::span<const std::int64_t> counts{};
    /// Where the ranks are; needed by algorithms that ask for it (Restrictions::topology).
    const Topology* topology = nullptr;
    /// Set where one rank's blocks of an alltoallv are known alone: `counts` holds what it sends to each rank and
    /// behind that what it receives from each, and only its own steps can be asked for.
    std::optional<int> known_rank{};
};

/// The block of `rank` in the vector that scatterv, gatherv and allgatherv deal in; scatter's where all are equal.
struct Part {
    std::int64_t first;
    std::int64_t count;
    [[nodiscard]] std::int64_t end() const { return first + count; }
};
Part block_of(const Shape& shape, int rank);

/// The block that `sender` has for `receiver` in an all-to-all: its place in the sender's buffer and in the receiver's.
struct PairBlock {
    std::int64_t at_sender;
    std::int64_t at_receiver;
    std::int64_t count;
};
PairBlock pair_block_of(const Shape& shape, int sender, int receiver);

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
Part part_of(std::int64_t count, int ranks, int rank);

/// Element `index` of what `rank` sends where data is only moved: values that tell ranks and places apart.
std::uint64_t moved_value(int rank, std::int64_t index);

/// The value that `rank` of `ranks` contributes as its element `index`, and the value of an element with that origin.
///
/// Where data is added, every sum stays below 256 up to 1,700 ranks, since bytes that overflow add up differently from
/// library to library: Open MPI's vector operators saturate, its scalar ones wrap round.
std::uint64_t contribution(const Collective& collective, int ranks, int rank, std::int64_t index);
std::uint64_t expected(const Collective& collective, int ranks, const Origin& origin);

}  // namespace timpani
