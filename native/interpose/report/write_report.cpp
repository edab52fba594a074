#include "interpose/report/write_report.hpp"

#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <vector>

#include "execute/exchange_values.hpp"
#include "execute/rank_and_size.hpp"
#include "interpose/process/process.hpp"
#include "interpose/report/rank_text.hpp"
#include "interpose/world/world.hpp"
#include "json/json.hpp"
#include "measure/clock/global_clock.hpp"
#include "measure/files/record.hpp"

namespace timpani {

namespace {

/// One time for all ranks of a program, from its start to its end.
struct CommonTime {
    ClockLine line;             // of this rank
    int clocks = 1;             // number of different clocks
    std::int64_t error_ns = 0;  // at rank 0: the maximum over all ranks
};

/// Collective, when the program ends. Different clocks were synchronized at the start and are synchronized again now;
/// each is assumed to drift evenly in between. If the drift changes steadily instead, the line is wrong by at most a
/// quarter of the first synchronization's error for now. This is added to the error of the messages.
CommonTime agree_on_time(MPI_Comm comm, GlobalClock& clock) {
    CommonTime time{.line = clock.line(), .clocks = clock.clocks()};
    double wrongly_predicted = 0;
    if (!clock.shared()) {
        const ClockLine first = clock.line();
        const std::int64_t first_at = clock.synchronized_at();
        clock.synchronize();
        const std::int64_t now = clock.synchronized_at();
        time.line = line_through(first, first_at, clock.line(), now);
        wrongly_predicted = std::abs(static_cast<double>(first.to_global(now) - clock.line().to_global(now)));
    }
    double largest = 0;
    PMPI_Reduce(&wrongly_predicted, &largest, 1, MPI_DOUBLE, MPI_MAX, 0, comm);
    time.error_ns = clock.error_ns() + std::llround(largest / 4);
    return time;
}

constexpr int kVersion = 1;      // of the lines; src/timpani/programs/profile/profile_lines.py reads them
constexpr int kMaxParts = 1000;  // files in one folder: a script may start many programs

/// The file of this process in the profile's folder, created at the first call: `part-1.jsonl`, or the next number if
/// other programs wrote before. Empty if it can't be created.
const std::string& part_file(const std::string& folder) {
    static const std::string claimed = [&folder] {
        std::error_code ignored;
        std::filesystem::create_directories(folder, ignored);  // opening the file reports the reason
        for (int number = 1; number <= kMaxParts; ++number) {
            std::string name = folder + "/part-" + std::to_string(number) + ".jsonl";
            if (std::FILE* const made = std::fopen(name.c_str(), "wxe"); made != nullptr) {
                std::fclose(made);
                return name;
            }
            if (errno == EEXIST) continue;
            std::cerr << "timpani: " << name << " can't be written (" << std::strerror(errno) << ")\n";
            break;
        }
        return std::string();
    }();
    return claimed;
}

/// Replaces what this process wrote before, as a whole or not at all.
void write_lines(const std::vector<std::string>& lines) {
    const std::string& path = part_file(Process::get().settings.profile);
    if (path.empty()) return;
    const std::string unfinished = path + ".new";
    std::ofstream file(unfinished, std::ios::trunc);
    for (const std::string& line : lines) file << with_checksum(line);
    file << with_checksum(JsonObject().add("line", "end").add("lines", static_cast<std::int64_t>(lines.size())).text());
    file.close();
    if (!file || std::rename(unfinished.c_str(), path.c_str()) != 0)
        std::cerr << "timpani: " << path << " can't be written (" << std::strerror(errno) << ")\n";
}

void write(const ReportLines& report, int reporting, int world_ranks, const CommonTime& time, const std::string& note) {
    std::vector<std::string> lines{JsonObject()
                                       .add("line", "program")
                                       .add("version", kVersion)
                                       .add("reporting", reporting)
                                       .add("world_ranks", world_ranks)
                                       .add("note", note)
                                       .add("clocks", time.clocks)
                                       .add("clock_error_ns", time.error_ns)
                                       .add("compared_strata", static_cast<std::int64_t>(report.compared_strata))
                                       .text()};
    lines.insert(lines.end(), report.others.begin(), report.others.end());
    for (const LongCall& call : longest_calls(report.longest)) lines.push_back(call.text);
    for (const auto& [key, values] : report.rows) lines.push_back(row_line(key, values));
    write_lines(lines);
}

}  // namespace

void report_all() {
    const World& world = *World::get();
    const MPI_Comm comm = world.comm();
    const CommonTime time = agree_on_time(comm, *world.clock());
    const CallTable::Contents contents = Process::get().calls.contents();
    ConcurrentCalls concurrent;
    const std::vector<MatchedStratum> matched =
        match_calls(comm, contents, time.line, rank_in(comm) == 0 ? &concurrent : nullptr);
    const ReportLines own = lines_of_rank(rank_in(MPI_COMM_WORLD), contents, matched, time.line);
    const std::string all = gather_values(own.text(), comm);
    if (rank_in(comm) != 0) return;
    ReportLines report;
    report.add(all);
    report.compared_strata = concurrent.compared();
    for (const Concurrency& pair : concurrent.found()) report.others.push_back(concurrent_line(pair));
    write(report, size_of(comm), size_of(MPI_COMM_WORLD), time, world.spawned() ? "spawned" : "");
}

void report_alone(const std::string& note) {
    const CallTable::Contents contents = Process::get().calls.contents();
    const bool known = World::get() != nullptr;
    const ReportLines own = lines_of_rank(known ? rank_in(MPI_COMM_WORLD) : -1, contents, {}, {});
    write(own, 1, known ? size_of(MPI_COMM_WORLD) : 0, {}, note);
}

}  // namespace timpani
