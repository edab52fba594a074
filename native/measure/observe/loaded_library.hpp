#pragma once

#include <mpi.h>

#include <string>

namespace timpani {

/// The MPI library that a process runs in.
struct LoadedLibrary {
    std::string file;     // without links; "" if the loader does not name it
    std::string version;  // the first line that the library reports
};

LoadedLibrary loaded_library();

/// Collective. Throws on the first rank that runs in another library than rank 0, or than its program names.
void check_library(const LoadedLibrary& own, MPI_Comm comm);

}  // namespace timpani
