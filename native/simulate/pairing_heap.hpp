#pragma once

#include <utility>

namespace timpani {

/// Links of an item in a pairing heap; −1 for none.
struct PairingLinks {
    int child = -1;
    int sibling = -1;
};

/// Heaps of numbered items, with each item in at most one heap: pairing heaps (Fredman, Sedgewick, Sleator, Tarjan,
/// Algorithmica 1986). They are linked through the items, so a heap is stored as the number of its first item. Adding
/// takes constant time, removing the first amortized logarithmic time.
///
/// links(item)     its PairingLinks, default-initialized while it is in no heap
/// precedes(a, b)  whether a comes before b
template <class Links, class Precedes>
class PairingHeaps {
  public:
    PairingHeaps(const Links& links, const Precedes& precedes) : links_(links), precedes_(precedes) {}

    /// Merges two heaps, given by their first items; returns the first of the result.
    int merged(int a, int b) const {
        if (precedes_(b, a)) std::swap(a, b);
        links_(b).sibling = std::exchange(links_(a).child, b);
        return a;
    }
    /// Removes `first`, which is then in no heap; returns the new first, −1 for none.
    int without(int first) const {
        int pairs = -1;  // the last in front
        for (int next = std::exchange(links_(first).child, -1); next >= 0;) {
            const int one = next;
            const int other = std::exchange(links_(one).sibling, -1);
            next = other < 0 ? -1 : std::exchange(links_(other).sibling, -1);
            const int pair = other < 0 ? one : merged(one, other);
            links_(pair).sibling = std::exchange(pairs, pair);
        }
        int all = -1;
        while (pairs >= 0) {
            const int pair = std::exchange(pairs, std::exchange(links_(pairs).sibling, -1));
            all = all < 0 ? pair : merged(all, pair);
        }
        return all;
    }

  private:
    Links links_;
    Precedes precedes_;
};

}  // namespace timpani
