// timpani-bench-ring: compares a ring allgather written by hand with the execution of its schedule, as a JSON line for
// each size.
//
// Both run in one process, in alternating blocks. Nanoseconds are medians over blocks of rank 0's time for a call,
// which ends no sooner than its left neighbor's last message.

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <iostream>
#include <vector>

#include "execute/execution.hpp"
#include "execute/rank_and_size.hpp"
#include "json/json.hpp"

namespace {

using namespace timpani;

constexpr int kBlocks = 61;
constexpr double kBlockSeconds = 2e-3;

/// As one would write it without a library of schedules.
void ring_by_hand(const std::byte* send, std::byte* receive, int bytes, MPI_Comm comm, int rank, int size) {
    const auto block = [&](int owner) { return receive + static_cast<std::ptrdiff_t>(owner) * bytes; };
    std::memcpy(block(rank), send, static_cast<std::size_t>(bytes));
    const int right = (rank + 1) % size;
    const int left = (rank - 1 + size) % size;
    for (int round = 0; round < size - 1; ++round) {
        MPI_Sendrecv(block((rank - round + size) % size), bytes, MPI_BYTE, right, 1,
                     block((rank - round - 1 + size) % size), bytes, MPI_BYTE, left, 1, comm, MPI_STATUS_IGNORE);
    }
}

template <typename Call>
double seconds_a_call(const Call& call, int calls, MPI_Comm comm) {
    MPI_Barrier(comm);
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) call();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    return taken.count() / calls;
}

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::ranges::nth_element(values, middle);
    return *middle;
}

void compare(int bytes, MPI_Comm comm, int rank, int size) {
    std::vector<std::byte> send(static_cast<std::size_t>(bytes));
    std::vector<std::byte> receive(send.size() * static_cast<std::size_t>(size));
    const CollectiveArguments args{.ranks = size, .count = bytes, .root = 0};
    Execution execution(*find_algorithm("allgather", "ring"), args, comm, MPI_BYTE, MPI_OP_NULL);
    const auto by_schedule = [&] { execution(send.data(), receive.data()); };
    const auto by_hand = [&] { ring_by_hand(send.data(), receive.data(), bytes, comm, rank, size); };
    int calls = static_cast<int>(std::clamp(kBlockSeconds / seconds_a_call(by_hand, 100, comm), 10.0, 10'000.0));
    MPI_Bcast(&calls, 1, MPI_INT, 0, comm);
    std::vector<double> of_schedules;
    std::vector<double> of_hands;
    for (int block = 0; block < kBlocks; ++block) {
        of_schedules.push_back(seconds_a_call(by_schedule, calls, comm));
        of_hands.push_back(seconds_a_call(by_hand, calls, comm));
    }
    if (rank != 0) return;
    std::cout << JsonObject()
                     .add("bytes", bytes)
                     .add("schedule_ns", 1e9 * median(of_schedules))
                     .add("by_hand_ns", 1e9 * median(of_hands))
                     .text()
              << '\n';
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int bytes = 8; bytes <= 1 << 20; bytes *= 2) compare(bytes, comm, rank_in(comm), size_of(comm));
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
