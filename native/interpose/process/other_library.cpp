#include "interpose/process/other_library.hpp"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "interpose/process/settings.hpp"

namespace timpani {

namespace {

constexpr int kUserError = 2;  // as the command line's

/// What launchers call a process's rank.
constexpr std::array kRankVariables{"PMIX_RANK", "PMI_RANK", "SLURM_PROCID"};

bool is_first_rank() {
    return std::ranges::all_of(kRankVariables, [](const char* name) {
        const char* const rank = std::getenv(name);
        return rank == nullptr || std::string_view(rank) == "0";
    });
}

/// The file of the MPI library that a loaded object calls; empty if it calls none.
std::string mpi_library_of(const char* object) {
    void* const handle = dlopen(object, RTLD_LAZY | RTLD_NOLOAD);
    if (handle == nullptr) return "";
    Dl_info found{};
    void* const function = dlsym(handle, "PMPI_Init");
    const bool known = function != nullptr && dladdr(function, &found) != 0;
    dlclose(handle);  // it stays loaded
    return known ? found.dli_fname : "";
}

std::vector<std::string> loaded_objects() {
    std::vector<std::string> names;
    dl_iterate_phdr(
        [](dl_phdr_info* object, std::size_t /*size*/, void* found) {
            static_cast<std::vector<std::string>*>(found)->emplace_back(object->dlpi_name);
            return 0;
        },
        &names);
    std::erase(names, "");  // the program
    return names;
}

/// Before main: of a program that is linked with its library.
__attribute__((constructor)) void refuse_at_start() { refuse_other_library(); }

}  // namespace

void refuse_other_library() {
    if (read_settings().idle()) return;
    Dl_info own{};
    if (dladdr(reinterpret_cast<void*>(&refuse_other_library), &own) == 0) return;
    const std::string ours = mpi_library_of(own.dli_fname);
    for (const std::string& object : loaded_objects()) {
        const std::string theirs = mpi_library_of(object.c_str());
        if (theirs.empty() || theirs == ours) continue;
        if (is_first_rank())
            std::fprintf(stderr,
                         "timpani: the program loads %s, and Timpani's library is built for %s: start it with the "
                         "mpirun of its library, or name that library with --mpi\n",
                         theirs.c_str(), ours.c_str());
        _exit(kUserError);
    }
}

}  // namespace timpani
