#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace timpani {

/// Ends interception before MPI ends: gathers and writes the profile, and frees the world's state. Collective over the
/// world. Called in MPI_Finalize, which every process calls. An attribute of MPI_COMM_SELF would be missing in a
/// process none of whose calls were intercepted.
void finish();

/// Writes this process's calls alone, if the others can't be reached; `why` is a note in the profile.
void finish_alone(const std::string& why);

/// The beginning of such a note.
std::string this_rank_alone();

/// When rank 0 writes its calls next, in case the program never ends MPI. By the process's clock.
inline constinit std::atomic<std::int64_t> next_checkpoint_ns = 0;

/// Writes them, or finds that it is not due.
void write_checkpoint();

}  // namespace timpani
