#pragma once

#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

namespace timpani {

/// Whether this rank knows that `comm` was revoked (MPIX_Comm_revoke). MPI's collectives return an error there, even
/// without the launcher's fault tolerance. MPICH 4 and 5 end a program that revokes.
inline bool is_revoked([[maybe_unused]] MPI_Comm comm) {
    int revoked = 0;
#ifdef OMPI_HAVE_MPI_EXT_FTMPI
    MPIX_Comm_is_revoked(comm, &revoked);
#endif
    return revoked != 0;
}

}  // namespace timpani
