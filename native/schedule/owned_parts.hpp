#pragma once

#include "schedule/step.hpp"

namespace timpani {

// A team in which each of the first ranks owns a part of every rank's vector, and pairs exchange directly. Ranks are
// places of the team, and `member` gives the rank at a place; others are met in turn, so that no two go to one owner
// at once.

/// Sends each owner its part, `part(owner)`, and receives one's own from each rank, at `aside(rank)`.
template <typename Member, typename PartOf, typename Aside>
void bring_to_owners(int place, int size, int owners, const Member& member, const PartOf& part, const Aside& aside,
                     Steps& steps) {
    for (int i = 1; i < size; ++i) {
        const int to = (place + i) % size;
        const int from = (place - i + size) % size;
        if (place < owners) steps.receive(member(from), aside(from));
        if (to < owners) steps.send(member(to), part(to));
    }
}

/// Sends one's own part to all others, and receives theirs.
template <typename Member, typename PartOf>
void hand_out_by_owners(int place, int size, int owners, const Member& member, const PartOf& part, Steps& steps) {
    for (int i = 1; i < size; ++i) {
        const int to = (place + i) % size;
        const int from = (place - i + size) % size;
        if (from < owners) steps.receive(member(from), part(from));
        if (place < owners) steps.send(member(to), part(place));
    }
}

}  // namespace timpani
