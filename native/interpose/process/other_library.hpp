#pragma once

namespace timpani {

/// Ends the process with status 2 if the code at `caller`, which calls MPI, is linked with another MPI library than
/// this one, and reports why: each library would get the other one's communicators. Other processes and objects that
/// only load another library are left alone.
void refuse_other_library(const void* caller);

}  // namespace timpani
