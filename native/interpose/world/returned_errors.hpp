#pragma once

#include <mpi.h>

namespace timpani {

/// While it lives, MPI returns errors on a communicator instead of calling the program's handler.
class ReturnedErrors {
  public:
    explicit ReturnedErrors(MPI_Comm comm) : comm_(comm) {
        PMPI_Comm_get_errhandler(comm, &handler_);
        PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    }
    ~ReturnedErrors() {
        PMPI_Comm_set_errhandler(comm_, handler_);
        PMPI_Errhandler_free(&handler_);
    }
    ReturnedErrors(const ReturnedErrors&) = delete;
    ReturnedErrors& operator=(const ReturnedErrors&) = delete;

  private:
    MPI_Comm comm_;
    MPI_Errhandler handler_ = MPI_ERRHANDLER_NULL;
};

}  // namespace timpani
