#include "interpose/process/process.hpp"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>

#include "interpose/profile/call_site.hpp"
#include "interpose/rules/rules.hpp"

namespace timpani {

namespace {

std::string value_of(const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
}

bool is_on(const std::string& value) { return !value.empty() && value != "0" && value != "false"; }

RulesFile read_file(const std::string& path) {
    if (path.empty()) return {};
    std::string text;
    try {
        text = text_of_rules(path);
    } catch (const RulesError& error) {
        return {.problem = path + ": " + error.what()};
    }
    try {
        // One bit shorter, so its negative is also representable.
        const auto fingerprint = static_cast<std::int64_t>(std::hash<std::string>{}(text) >> 1);
        return {.rules = read_rules(text), .fingerprint = fingerprint};
    } catch (const RulesError& error) {
        return {.problem = path + ", " + error.what()};
    }
}

constexpr int kUserError = 2;  // as the command line's

/// What launchers call a process's rank. A launcher that srun started leaves its own number in the last.
constexpr std::array kRankVariables{"PMIX_RANK", "PMI_RANK", "SLURM_PROCID"};

bool is_first_rank() {
    for (const char* const name : kRankVariables)
        if (const char* const rank = std::getenv(name)) return std::string_view(rank) == "0";
    return true;
}

/// The file of the MPI library with which the object that contains `address` is linked; empty for one without.
std::string mpi_library_of(const void* address) {
    Dl_info object{};
    link_map* map = nullptr;
    if (dladdr1(address, &object, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0 || map == nullptr) return "";
    const bool is_program = map->l_name[0] == '\0';
    void* const handle = dlopen(is_program ? nullptr : map->l_name, RTLD_LAZY | RTLD_NOLOAD);
    if (handle == nullptr) return "";
    Dl_info found{};
    void* const function = dlsym(handle, "PMPI_Init");
    const bool known = function != nullptr && dladdr(function, &found) != 0;
    dlclose(handle);  // it stays loaded
    return known ? found.dli_fname : "";
}

}  // namespace

Settings read_settings() {
    std::array<char, 256> host{};  // POSIX: names have at most 255 bytes
    gethostname(host.data(), host.size() - 1);
    return {.off = is_on(value_of("TIMPANI_OFF")),
            .rules = value_of("TIMPANI_RULES"),
            .profile = value_of("TIMPANI_PROFILE"),
            .proves = is_on(value_of("TIMPANI_PROVE")),
            .sites = is_on(value_of("TIMPANI_SITES")),
            .group = group_of(host.data(), value_of("TIMPANI_GROUPS"), value_of("SLURM_TOPOLOGY_ADDR")),
            .clock_skew = value_of("TIMPANI_CLOCK_SKEW"),
            .fault_tolerance = is_on(value_of("OMPI_MCA_mpi_ft_enable"))};
}

Process::Process() : settings(read_settings()), rules(settings.idle() ? RulesFile{} : read_file(settings.rules)) {
    counting = settings.counts() && !settings.off;
    proving = counting && settings.proves;
    counting_sites = counting && settings.sites;
    marking_sites =
        counting_sites || std::ranges::any_of(rules.rules, [](const Rule& rule) { return !rule.site.empty(); });
    interception = settings.idle() ? Interception::off : Interception::on;
}

Process& Process::get() {
    static Process& process = *new Process;
    return process;
}

void Process::warn_once(std::string_view text) {
    if (warned_.test_and_set()) return;
    std::fprintf(stderr, "timpani: %.*s\n", static_cast<int>(text.size()), text.data());
}

void Process::refuse(std::string_view why) {
    if (refusal_.empty()) refusal_ = why;
}

void refuse_other_library(const void* caller) {
    if (Process::get().settings.idle()) return;
    const std::string ours = mpi_library_of(reinterpret_cast<const void*>(&refuse_other_library));
    const std::string theirs = mpi_library_of(caller);
    if (theirs.empty() || theirs == ours) return;
    if (is_first_rank())
        std::fprintf(
            stderr,
            "timpani: the program calls %s, and Timpani's library is built for %s: start it with the mpirun of "
            "its library, or name that library with --mpi\n",
            theirs.c_str(), ours.c_str());
    std::fflush(nullptr);
    _exit(kUserError);
}

}  // namespace timpani
