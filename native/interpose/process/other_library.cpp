#include "interpose/process/other_library.hpp"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "interpose/process/process.hpp"

namespace timpani {

namespace {

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
