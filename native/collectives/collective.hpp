#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace timpani {

class Topology;

/// Arguments of a collective: number of ranks, count as its size defines it, and root; for a Timpani algorithm also the
/// bytes of an element, whether the operator commutes, and the algorithm's parameters in order.
struct CollectiveArguments {
    int ranks;
    std::int64_t count;
    int root;
    std::int64_t element_bytes = 1;
    bool commutative = true;
    std::array<std::int64_t, 2> parameters{};
    /// Elements of each rank's block in a v-collective; in alltoallv of each block, sender by sender. Empty: all are
    /// `count`.
    std::span<const std::int64_t> counts{};
    /// Places of the ranks; required by topology-aware algorithms (Restrictions::topology).
    const Topology* topology = nullptr;
    /// Set if only one rank's blocks of an alltoallv are known: `counts` then has what it sends to each rank followed
    /// by what it receives from each, and only its own steps can be computed.
    std::optional<int> known_rank{};
};

/// The block of `rank` in the vector of scatterv, gatherv and allgatherv; scatter's if all blocks are equal.
struct Part {
    std::int64_t first;
    std::int64_t count;
    [[nodiscard]] std::int64_t end() const { return first + count; }
};
Part block_of(const CollectiveArguments& args, int rank);

/// The block from `sender` to `receiver` in an all-to-all: its place in the sender's buffer and in the receiver's.
struct PairBlock {
    std::int64_t at_sender;
    std::int64_t at_receiver;
    std::int64_t count;
};
PairBlock pair_block_of(const CollectiveArguments& args, int sender, int receiver);

/// The source of an element of a result: the sum over ranks [first_rank, last_rank] of their element `index`. For
/// collectives that only move data both ranks are the same.
struct Origin {
    int first_rank;
    int last_rank;
    std::int64_t index;
};

// Values of a collective's row in operations.def.

/// The ranks whose buffer on one side of a collective has data.
enum class Holders : std::uint8_t { all, root, others };

/// The content of such a buffer, in units of `count`.
enum class Content : std::uint8_t {
    nothing,
    vector,  // `count` elements
    part,    // the rank's part of those (part_of)
    block,   // the rank's own block
    blocks,  // the block of each rank, in rank order
    pairs,   // a block for each rank, or from each, in rank order
};

/// The content of an element of the receive buffer.
enum class Result : std::uint8_t {
    none,
    moved,          // one rank's element
    sum,            // all ranks'
    prefix,         // those of ranks 0 … this one
    prefix_before,  // those of the ranks before this one
};

/// How a collective that reduces combines the ranks' elements. The results are named after the sum.
enum class Combination : std::uint8_t { sum, prod, max, min, land, lor, lxor, band, bor, bxor };

/// Whether blocks may differ in size, as in the v-collectives, and which ranks know the sizes.
enum class BlockCounts : std::uint8_t {
    equal,
    known,      // every rank knows all blocks
    exchanged,  // a rank knows some, so ranks have to exchange sizes
};

/// Which buffer may be MPI_IN_PLACE, as its data is in the other buffer already.
enum class InPlace : std::uint8_t { never, send, send_at_root, receive_at_root };

/// The send buffers, or the receive buffers, of a collective.
struct CollectiveBuffers {
    Holders holders;
    Content content;

    [[nodiscard]] constexpr bool used_by(int rank, int root) const {
        return content != Content::nothing && (holders == Holders::all || (holders == Holders::root) == (rank == root));
    }
    /// One block per rank; otherwise one piece.
    [[nodiscard]] constexpr bool in_blocks() const { return content == Content::blocks || content == Content::pairs; }
};

/// The properties of a collective that the harness, the verifier and the interposer need, independent of MPI.
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
    /// Whether these buffers are described by arrays of counts and displacements.
    [[nodiscard]] constexpr bool by_arrays(const CollectiveBuffers& buffers) const {
        return counts != BlockCounts::equal && buffers.in_blocks();
    }
    /// A broadcast: the root sends from the buffer that other ranks receive into.
    [[nodiscard]] constexpr bool one_buffer() const { return receive.holders == Holders::others; }
    [[nodiscard]] InPlace in_place() const;

    /// Elements of the buffer that `rank` contributes from, and of the one that it receives into.
    [[nodiscard]] std::int64_t send_elements(const CollectiveArguments& args, int rank) const;
    [[nodiscard]] std::int64_t receive_elements(const CollectiveArguments& args, int rank) const;
    /// The elements of the receive buffer that `rank` contributes if it passes MPI_IN_PLACE to send.
    [[nodiscard]] Part contributed_in_place(const CollectiveArguments& args, int rank) const;
    /// The source of element `i` of the receive buffer of `rank`; nothing if MPI leaves it undefined.
    [[nodiscard]] std::optional<Origin> origin(const CollectiveArguments& args, int rank, std::int64_t i) const;
    /// The largest count or displacement, in elements, passed to MPI in a call with equal blocks. Only v-collectives
    /// take displacements, which grow with the rank count.
    [[nodiscard]] std::int64_t largest_argument(const CollectiveArguments& args) const;
    /// The end of the run of consecutive elements, including `i`, that come from the same ranks.
    [[nodiscard]] std::int64_t end_of_run(const CollectiveArguments& args, int rank, std::int64_t i) const;
};

/// All collectives, in the order of operations.def.
std::span<const Collective> collectives();

/// The collective with that name, or nullptr.
const Collective* find_collective(std::string_view name);

/// `count` elements divided among `ranks` ranks as evenly as possible, longer parts first. The division takes longest:
/// callers with many ranks should do it once.
class Parts {
  public:
    constexpr Parts(std::int64_t count, int ranks) : shorter_(count / ranks), longer_(count % ranks) {}

    /// The first element of the part of `rank`; for the rank after the last, the end.
    [[nodiscard]] constexpr std::int64_t first(int rank) const {
        return rank * shorter_ + (rank < longer_ ? rank : longer_);
    }

  private:
    std::int64_t shorter_;
    std::int64_t longer_;  // number of parts with one more element
};

/// The part of one rank.
constexpr Part part_of(std::int64_t count, int ranks, int rank) {
    const Parts parts(count, ranks);
    return {parts.first(rank), parts.first(rank + 1) - parts.first(rank)};
}

/// Element `index` sent by `rank` if data is only moved: values that distinguish ranks and places.
constexpr std::uint64_t moved_value(int rank, std::int64_t index) {
    const auto low =
        static_cast<std::uint32_t>(index);  // 16 bits are enough, and more values fit into a vector register
    return static_cast<std::uint64_t>(3 * static_cast<std::int64_t>(rank) + ((5 * low + 11 * (low >> 8)) & 0xff));
}

/// Sets `values` to those of the element with that origin, among `ranks`, and of the elements that follow it in its
/// run. A rank's contribution depends on the rank only.
///
/// Sums stay below 256 up to 1,700 ranks, since libraries differ on overflow of bytes: Open MPI's vector operators
/// saturate, its scalar ones wrap around.
void fill_from(const Collective& collective, int ranks, const Origin& origin, std::span<std::uint64_t> values,
               Combination combination = Combination::sum);

/// MPI_T control variables of the library and the integers that they are set to.
using Controls = std::vector<std::pair<std::string, int>>;

/// Reads `name=integer,…`, perhaps nothing. Throws std::runtime_error for anything else.
Controls read_controls(std::string_view text);

}  // namespace timpani
