#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace timpani {

class Topology;

/// What a collective is called with: how many ranks take part, the elements that its size counts, and the root; and,
/// for an algorithm of ours, the bytes of an element, whether the operator commutes, and the algorithm's own parameters
/// in the order in which it names them.
struct CollectiveArguments {
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
Part block_of(const CollectiveArguments& args, int rank);

/// The block that `sender` has for `receiver` in an all-to-all: its place in the sender's buffer and in the receiver's.
struct PairBlock {
    std::int64_t at_sender;
    std::int64_t at_receiver;
    std::int64_t count;
};
PairBlock pair_block_of(const CollectiveArguments& args, int sender, int receiver);

/// Where an element of a result comes from: the sum over ranks [first_rank, last_rank] of their element `index`.
/// For collectives that only move data the two ranks are the same.
struct Origin {
    int first_rank;
    int last_rank;
    std::int64_t index;
};

// The words of a collective's row in operations.def.

/// The ranks whose buffer on one side of a collective holds anything.
enum class Holders : std::uint8_t { all, root, others };

/// What such a buffer holds, in what `count` counts.
enum class Content : std::uint8_t {
    nothing,
    vector,  // `count` elements
    part,    // the rank's part of those (part_of)
    block,   // the rank's own block
    blocks,  // the block of each rank, in rank order
    pairs,   // a block for each rank, or from each, in rank order
};

/// What an element of the receive buffer is made of.
enum class Result : std::uint8_t {
    none,
    moved,          // one rank's element
    sum,            // all ranks'
    prefix,         // those of ranks 0 … this one
    prefix_before,  // those of the ranks before this one
};

/// Whether blocks may differ in size, as in the v-collectives, and who is told.
enum class BlockCounts : std::uint8_t {
    equal,
    told,       // every rank is told all blocks
    exchanged,  // a rank is told of some, so that ranks have to tell each other
};

/// Which buffer may be MPI_IN_PLACE, since its data lies in the other already, and where.
enum class InPlace : std::uint8_t { never, send, send_at_root, receive_at_root };

/// The send, or the receive, buffers of a collective.
struct CollectiveBuffers {
    Holders holders;
    Content content;

    [[nodiscard]] constexpr bool used_by(int rank, int root) const {
        return content != Content::nothing && (holders == Holders::all || (holders == Holders::root) == (rank == root));
    }
    /// A block for each rank; else one piece.
    [[nodiscard]] constexpr bool in_blocks() const { return content == Content::blocks || content == Content::pairs; }
};

/// What the harness, the verifier and the interposer must know of a collective, and nothing of MPI.
struct Collective {
    std::string_view name;
    CollectiveBuffers send;
    CollectiveBuffers receive;
    Result result;
    BlockCounts counts;

    [[nodiscard]] constexpr bool rooted() const {
        return send.holders == Holders::root || receive.holders == Holders::root;
    }
    [[nodiscard]] constexpr bool reduces() const { return result != Result::none && result != Result::moved; }
    /// Whether those buffers are described by arrays, of a count and a displacement for each rank.
    [[nodiscard]] constexpr bool by_arrays(const CollectiveBuffers& buffers) const {
        return counts != BlockCounts::equal && buffers.in_blocks();
    }
    /// A broadcast: the root sends from the buffer that the others receive into.
    [[nodiscard]] constexpr bool one_buffer() const { return receive.holders == Holders::others; }
    [[nodiscard]] InPlace in_place() const;

    /// Elements of the buffer that rank contributes from, and of the one that it receives into.
    [[nodiscard]] std::int64_t send_elements(const CollectiveArguments& args, int rank) const;
    [[nodiscard]] std::int64_t receive_elements(const CollectiveArguments& args, int rank) const;
    /// Where element `i` of rank's receive buffer comes from; nothing where MPI leaves it undefined.
    [[nodiscard]] std::optional<Origin> origin(const CollectiveArguments& args, int rank, std::int64_t i) const;
    /// The largest of the counts and displacements, in elements, that ranks pass to MPI's call of the collective where
    /// all blocks are equal. Only the v-collectives take displacements, which grow with the number of ranks.
    [[nodiscard]] std::int64_t largest_argument(const CollectiveArguments& args) const;
    /// The end of the run of elements, `i` among them, that come from the same ranks, one behind the other.
    [[nodiscard]] std::int64_t end_of_run(const CollectiveArguments& args, int rank, std::int64_t i) const;
};

/// All collectives, in the order of operations.def.
std::span<const Collective> collectives();

/// The collective of that name, or nullptr.
const Collective* find_collective(std::string_view name);

/// `count` elements dealt out to `ranks` as evenly as whole elements allow, the longer parts first. Dividing takes
/// longer than all else that a part is asked for: whoever asks for many does it once.
class Parts {
  public:
    constexpr Parts(std::int64_t count, int ranks) : shorter_(count / ranks), longer_(count % ranks) {}

    /// The first element of `rank`'s part; of the rank behind the last, the end of all.
    [[nodiscard]] constexpr std::int64_t first(int rank) const {
        return rank * shorter_ + (rank < longer_ ? rank : longer_);
    }

  private:
    std::int64_t shorter_;
    std::int64_t longer_;  // so many parts have one more
};

/// The part of one rank.
constexpr Part part_of(std::int64_t count, int ranks, int rank) {
    const Parts parts(count, ranks);
    return {parts.first(rank), parts.first(rank + 1) - parts.first(rank)};
}

/// Element `index` of what `rank` sends where data is only moved: values that tell ranks and places apart.
constexpr std::uint64_t moved_value(int rank, std::int64_t index) {
    const auto low = static_cast<std::uint32_t>(index);  // its lowest 16 bits tell, and so more fit into a vector
    return static_cast<std::uint64_t>(3 * static_cast<std::int64_t>(rank) + ((5 * low + 11 * (low >> 8)) & 0xff));
}

/// The value of an element with that origin, among `ranks`, and the values of those that follow it in one run. What a
/// rank contributes comes from itself alone.
///
/// Where data is added, every sum stays below 256 up to 1,700 ranks, since bytes that overflow add up differently from
/// library to library: Open MPI's vector operators saturate, its scalar ones wrap round.
std::uint64_t value_from(const Collective& collective, int ranks, const Origin& origin);
void fill_from(const Collective& collective, int ranks, const Origin& origin, std::span<std::uint64_t> values);

}  // namespace timpani
