#include "interpose/finish.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>

#include "interpose/communicator.hpp"
#include "interpose/process.hpp"

namespace timpani {

namespace {

void report(Process& process) {
    const ProfileRows rows = process.profile.gathered(MPI_COMM_WORLD);
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank != 0) return;
    if (process.settings.summary) write_summary(std::cerr, rows);
    if (process.settings.profile.empty()) return;
    std::ofstream file(process.settings.profile);
    write_csv(file, rows);
    file.close();
    if (!file) std::cerr << "timpani: " << process.settings.profile << ": " << std::strerror(errno) << '\n';
}

void release(MPI_Comm comm, int keyval) {
    void* state = nullptr;
    int found = 0;
    PMPI_Comm_get_attr(comm, keyval, static_cast<void*>(&state), &found);
    if (found != 0) PMPI_Comm_delete_attr(comm, keyval);
}

}  // namespace

void finish() {
    if (!on_duty()) return;
    Process& process = Process::get();
    if (counting) report(process);
    release(MPI_COMM_WORLD, process.keyval());
    release(MPI_COMM_SELF, process.keyval());
    duty = Duty::off;
}

}  // namespace timpani
