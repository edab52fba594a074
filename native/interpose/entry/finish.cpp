#include "interpose/entry/finish.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <string>

#include "interpose/communicator/communicator.hpp"
#include "interpose/process/process.hpp"
#include "interpose/world/world.hpp"

namespace timpani {

namespace {

/// The path; where a file is there, as when a script starts several programs, PATH.2 and so on. That file is made. The
/// path itself is not for programs that another one spawned, which mostly end first.
std::string new_file(const std::string& path, bool spawned) {
    for (int number = spawned ? 2 : 1;; ++number) {
        const std::string name = number == 1 ? path : path + "." + std::to_string(number);
        if (std::FILE* const made = std::fopen(name.c_str(), "wx"); made != nullptr) {
            std::fclose(made);
            return name;
        }
        if (errno != EEXIST) return name;  // opening it will say why
    }
}

void write(const Settings& settings, const ProfileReport& report, bool spawned) {
    if (settings.summary) write_summary(std::cerr, report);
    if (settings.profile.empty()) return;
    const std::string path = new_file(settings.profile, spawned);
    std::ofstream file(path);
    write_csv(file, report);
    file.close();
    if (!file) std::cerr << "timpani: " << path << ": " << std::strerror(errno) << '\n';
}

void report(Process& process) {
    const MPI_Comm comm = World::get()->comm();
    ProfileReport report = process.profile.gathered(comm);
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    if (rank != 0) return;
    if (World::get()->spawned()) report.note = "spawned";
    write(process.settings, report, World::get()->spawned());
}

void release(MPI_Comm comm) {
    void* state = nullptr;
    int found = 0;
    PMPI_Comm_get_attr(comm, Communicator::keyval(), static_cast<void*>(&state), &found);
    if (found != 0) PMPI_Comm_delete_attr(comm, Communicator::keyval());
}

}  // namespace

void finish_alone(const std::string& why) {
    if (!intercepting() || !counting) return;
    Process& process = Process::get();
    write(process.settings, process.profile.alone(why), false);
    counting = false;
}

void finish() {
    if (!intercepting()) return;
    Process& process = Process::get();
    if (counting && World::get() != nullptr) report(process);
    release(MPI_COMM_WORLD);
    release(MPI_COMM_SELF);
    World::end();
    interception = Interception::off;
}

}  // namespace timpani
