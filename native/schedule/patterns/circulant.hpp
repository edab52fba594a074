#pragma once

#include <array>
#include <cstdint>

#include "schedule/arithmetic.hpp"

namespace timpani {

/// The schedule of a broadcast from rank 0 over a circulant graph: the block that a rank receives in each round. Once
/// its first block has arrived, every rank receives a new block in each round (Träff, arXiv 2312.11236 and 2407.18004).
///
/// All ranks have the same q = ⌈log₂ p⌉ links. Link k leads ⌈p / 2^(q−k)⌉ ranks further around the ring. A phase is q
/// rounds, one over each link, and in each round rank 0 sends a new block.
///
/// Write every rank's number as a sum of link distances: take the largest that fits, then continue with the rest. The
/// block that rank 0 sends over link k reaches, within the phase, the ranks whose sum ends with that link's distance.
/// Träff calls it the baseblock of these ranks. Over the other q − 1 links a rank receives blocks that were sent before
/// the phase started: over link k, the baseblock of a rank that is at least the link's distance behind it. No block
/// comes over two links. A search through the sums, the nearest such ranks first, finds a block for each link in O(log
/// p) steps.
class CirculantSchedule {
  public:
    CirculantSchedule(int ranks, int rank)
        : ranks_(ranks), links_(ceil_log2(ranks)), from_(std::int64_t{ranks} + rank) {
        const int own = baseblock(rank);
        unused_ &= ~(1U << own);
        nearest_ = 2 * std::int64_t{ranks};
        search(0, links_);
        for (int k = 0; k < links_; ++k) blocks_[at(k)] = blocks_[at(k)] == links_ ? own : blocks_[at(k)] - links_;
    }

    [[nodiscard]] int links() const { return links_; }
    /// The distance of link k. A link after the last one would lead once around the ring.
    [[nodiscard]] std::int64_t distance(int k) const {
        const int halvings = links_ - k;
        return (std::int64_t{ranks_} + (std::int64_t{1} << halvings) - 1) >> halvings;
    }
    /// The block received over link k in the first phase. Block 0 is the first that rank 0 sends; a negative number
    /// stands for no block. The number grows by `links` in each later phase.
    [[nodiscard]] int block(int k) const { return blocks_[at(k)]; }

  private:
    static std::size_t at(int k) { return static_cast<std::size_t>(k); }

    /// The link whose distance ends the sum for `rank`; for rank 0, `links`, as if a link led once around the ring.
    [[nodiscard]] int baseblock(std::int64_t rank) const {
        int link = links_;
        for (int k = links_ - 1; k >= 0 && rank > 0; --k) {
            if (distance(k) > rank) continue;
            rank -= distance(k);
            link = k;
        }
        return link;
    }

    /// Extends the sum `sum` by each unused link up to `last_link`, the longest first.
    void search(std::int64_t sum, int last_link) {
        for (int link = last_link; link >= 0; --link) {
            if (found_ == links_) return;
            const std::int64_t reached = sum + distance(link);
            if ((unused_ >> link & 1U) == 0 || reached > from_ - distance(found_) || reached >= nearest_) continue;
            if (reached <= from_ - distance(found_ + 1)) search(reached, link - 1);
            if (found_ == links_ || sum > from_ - distance(found_ + 1)) return;
            nearest_ = reached;
            blocks_[at(found_++)] = link;
            unused_ &= ~(1U << link);
        }
    }

    int ranks_;
    int links_;
    std::int64_t from_;  // the rank, plus once around the ring
    int found_ = 0;      // number of links whose block is known
    std::int64_t nearest_ = 0;
    std::uint32_t unused_ = ~0U;
    std::array<int, 32> blocks_{};
};

}  // namespace timpani
