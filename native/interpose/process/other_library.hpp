#pragma once

namespace timpani {

/// Ends a process that loads another MPI library than the one that this library is built for, and reports why: each
/// library would get the other one's communicators.
void refuse_other_library();

}  // namespace timpani
