#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace timpani {

/// Ends interception before the program ends MPI: the profile is gathered and written, and what the world's state holds
/// is freed. Collective over the world: called in MPI_Finalize, which every process calls, since an attribute of
/// MPI_COMM_SELF would be missing where a process made no call that we saw.
void finish();

/// Writes what this process alone has called, where the others can't be asked; `why` is a note in the profile.
void finish_alone(const std::string& why);

/// When what rank 0 knows is written next, in case that the program never ends MPI. By the process's clock.
inline constinit std::atomic<std::int64_t> next_checkpoint_ns = 0;

/// Writes that, or finds out that it is not due here.
void write_checkpoint();

}  // namespace timpani
