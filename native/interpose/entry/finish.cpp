#include "interpose/entry/finish.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "execute/rank_and_size.hpp"
#include "interpose/communicator/communicator.hpp"
#include "interpose/process/process.hpp"
#include "interpose/report/write_report.hpp"
#include "interpose/world/world.hpp"

namespace timpani {

namespace {

constexpr std::int64_t kCheckpointNs = 1'000'000'000;  // minimum time between checkpoints
constexpr std::int64_t kCheckpointShare = 1'000;       // also at least this multiple of the time of the last checkpoint

void release(MPI_Comm comm) {
    void* state = nullptr;
    int found = 0;
    PMPI_Comm_get_attr(comm, Communicator::keyval(), static_cast<void*>(&state), &found);
    if (found != 0) PMPI_Comm_delete_attr(comm, Communicator::keyval());
}

/// A program that ends by exit, without MPI_Finalize. MPI is still initialized, so it can be called.
__attribute__((destructor)) void end_of_process() {
    if (interception.load() != Interception::on || !counting || World::get() == nullptr) return;
    finish_alone(this_rank_alone() + "which ended without MPI_Finalize");
}

}  // namespace

void write_checkpoint() {
    Process& process = Process::get();
    const std::int64_t began = process.clock.now();
    const bool first_rank = World::get() != nullptr && rank_in(World::get()->comm()) == 0;
    if (!first_rank) {
        next_checkpoint_ns = std::numeric_limits<std::int64_t>::max();
        return;
    }
    if (began - process.began_ns < kCheckpointNs) {
        next_checkpoint_ns = process.began_ns + kCheckpointNs;
        return;
    }
    next_checkpoint_ns = std::numeric_limits<std::int64_t>::max();  // for other threads
    report_alone(this_rank_alone() + "up to a checkpoint: the program ended otherwise than by MPI_Finalize");
    const std::int64_t now = process.clock.now();
    next_checkpoint_ns = now + std::max(kCheckpointNs, kCheckpointShare * (now - began));
}

std::string this_rank_alone() {
    int initialized = 0;
    PMPI_Initialized(&initialized);
    return "rank " + std::to_string(initialized != 0 ? rank_in(MPI_COMM_WORLD) : 0) + " alone, ";
}

void finish_alone(const std::string& why) {
    if (!intercepting() || !counting) return;
    report_alone(why);
    counting = false;
}

void finish() {
    if (!intercepting()) return;
    const bool counted = counting;
    counting = false;
    if (counted && World::get() != nullptr) report_all();
    release(MPI_COMM_WORLD);
    release(MPI_COMM_SELF);
    World::end();
    interception = Interception::off;
}

}  // namespace timpani
