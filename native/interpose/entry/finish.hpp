#pragma once

#include <string>

namespace timpani {

/// Ends interception before the program ends MPI: the profile is gathered and written, and what the
/// world's state holds is freed. Collective over the world: called in MPI_Finalize, which every process calls, since an
/// attribute of MPI_COMM_SELF would be missing where a process made no call that we saw.
void finish();

/// Writes what this process alone has called, where the others can't be asked; `why` says so in the profile.
void finish_alone(const std::string& why);

}  // namespace timpani
