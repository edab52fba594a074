#pragma once

#include <cstdint>
#include <vector>

#include "schedule/algorithm.hpp"

namespace timpani {

/// One instruction of a rank's program. Messages that overlap with later steps have the number of an MPI request.
/// Messages that are waited for at once have no request.
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
    int peer = -1;        // sent to; received from if nothing is sent
    int other_peer = -1;  // exchange: received from
    Region from{};
    Region to{};
    std::int32_t request = -1;  // its number; wait_all: number of requests
};

/// What one rank does in one call of an algorithm. It can run any number of times.
///
/// Steps run in order. A step waits for the messages under way that it depends on. If the algorithm bounds their
/// number, it also waits for the oldest one. The remaining messages are waited for at the end.
struct Program {
    std::vector<Instruction> instructions;
    std::int32_t requests = 0;
    std::int64_t scratch = 0;  // elements
    std::int64_t window = 0;   // elements, shared by the ranks of a node
};

/// The program of `rank`. Takes the schedule's length times the logarithm of the number of its regions.
Program compile(const Algorithm& algorithm, const CollectiveArguments& args, int rank);

}  // namespace timpani
