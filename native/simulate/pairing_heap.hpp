#pragma once

#include <utility>

namespace timpani {

/// What a pairing heap keeps with each of its items; −1 for none.
struct PairingLinks {
    int child = -1;
    int sibling = -1;
};

/// Heaps of numbered items, of which an item is in one at a time: pairing heaps (Fredman, Sedgewick, Sleator, Tarjan,
/// Algorithmica 1986), linked through the items, so that a heap takes nothing but the number of its first. Items are
/// added in constant time, and the first is taken out in the logarithm of how many there are, amortized.
///
/// links(item)     its PairingLinks, as they are made while it is in no heap
/// precedes(a, b)  whether a comes before b
template <class Links, class Precedes>
class PairingHeaps {
  public:
    PairingHeaps(const Links& links, const Precedes& precedes) : links_(links), precedes_(precedes) {}

    /// The first of both, whose heaps become one.
    int merged(int a, int b) const {
        if (precedes_(b, a)) std::swap(a, b);
        links_(b).sibling = std::exchange(links_(a).child, b);
        return a;
    }
    /// The next first, −1 for none; `first` is in no heap afterwards.
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
