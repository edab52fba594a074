#pragma once

#include <cstdint>
#include <vector>

#include "schedule/algorithm.hpp"

namespace timpani {

/// One instruction of a rank's program. Messages that others must wait for, or that may overlap with what follows, have
/// the number of an MPI request; those that are waited for at once need none.
struct Instruction {
    enum class Kind : std::uint8_t {
        send,
        receive,
        exchange,
        start_send,
        start_receive,
        wait,
        wait_all,
        copy,
        reduce,
        sync,  // memory barrier between accesses to the window and the messages that order them
    };

    Kind kind = Kind::copy;
    int peer = -1;        // sent to, or received from where nothing is sent
    int other_peer = -1;  // exchange: received from
    Region from{};
    Region to{};
    std::int32_t request = -1;  // its number; wait_all: how many there are
};

/// What one rank does in one call of an algorithm, ready to be run any number of times.
///
/// Steps run in their order. A step waits for the messages under way that it depends on, and for the oldest one
/// where the algorithm bounds how many there may be; whatever is left is waited for at the end.
struct Program {
    std::vector<Instruction> instructions;
    std::int32_t requests = 0;
    std::int64_t scratch = 0;  // elements
    std::int64_t window = 0;   // elements, shared by the ranks of a node
};

/// The program of `rank`; costs the schedule's length times the logarithm of its regions.
Program compile(const Algorithm& algorithm, const CollectiveArguments& args, int rank);

}  // namespace timpani
