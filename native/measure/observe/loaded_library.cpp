#include "measure/observe/loaded_library.hpp"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <stdexcept>
#include <string_view>

#include "execute/exchange_values.hpp"
#include "execute/rank_and_size.hpp"

namespace timpani {

namespace {

std::string without_links(const char* path) {
    std::error_code failed;
    const auto found = std::filesystem::canonical(path, failed);
    return failed ? path : found.string();
}

/// The library that this program names by its path, as carried programs do; "" where the loader searches for it.
std::string named_library() {
    const char* names = nullptr;
    for (const auto* entry = _DYNAMIC; entry->d_tag != DT_NULL; ++entry)
        if (entry->d_tag == DT_STRTAB) names = reinterpret_cast<const char*>(entry->d_un.d_ptr);
    for (const auto* entry = _DYNAMIC; names != nullptr && entry->d_tag != DT_NULL; ++entry)
        if (entry->d_tag == DT_NEEDED && names[entry->d_un.d_val] == '/')
            return without_links(names + entry->d_un.d_val);
    return "";
}

std::string host() {
    std::array<char, 256> name{};
    gethostname(name.data(), name.size() - 1);
    return name.data();
}

std::string in_words(const LoadedLibrary& library) { return library.file + " (" + library.version + ")"; }

}  // namespace

LoadedLibrary loaded_library() {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    MPI_Get_library_version(text.data(), &length);
    const std::string whole(text.data(), static_cast<std::size_t>(length));
    Dl_info found{};
    void* const function = dlsym(RTLD_DEFAULT, "PMPI_Init");
    const bool known = function != nullptr && dladdr(function, &found) != 0 && found.dli_fname != nullptr;
    return {known ? without_links(found.dli_fname) : "",
            whole.substr(0, whole.find_first_of(std::string_view("\n\0", 2)))};
}

void check_library(const LoadedLibrary& own, MPI_Comm comm) {
    const std::string first = broadcast_values(in_words(own), 0, comm);
    const std::string named = named_library();
    const bool as_named = named.empty() || named == own.file;
    const int rank = rank_in(comm);
    const int size = size_of(comm);
    const int differs = as_named && first == in_words(own) ? size : rank;
    int first_that_differs = size;
    PMPI_Allreduce(&differs, &first_that_differs, 1, MPI_INT, MPI_MIN, comm);
    if (rank != first_that_differs) return;
    const std::string wanted = as_named ? "rank 0 in " + first : "this program is for " + named;
    throw std::runtime_error("on " + host() + " it runs in " + in_words(own) + ", but " + wanted +
                             "; remove LD_PRELOAD and other settings that load another library");
}

}  // namespace timpani
