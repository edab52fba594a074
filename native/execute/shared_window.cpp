#include "execute/shared_window.hpp"

#include <exception>

#include "execute/node.hpp"
#include "execute/rank_and_size.hpp"

namespace timpani {

namespace {

/// Whether MPI also reports that all ranks of `node_comm` can share memory.
bool shares_memory(MPI_Comm node_comm) {
    MPI_Comm sharing = MPI_COMM_NULL;
    if (split_by_node(node_comm, 0, &sharing) != MPI_SUCCESS) return false;
    const bool all = size_of(sharing) == size_of(node_comm);
    PMPI_Comm_free(&sharing);
    int everywhere = all ? 1 : 0;
    PMPI_Allreduce(MPI_IN_PLACE, &everywhere, 1, MPI_INT, MPI_MIN, node_comm);
    return everywhere != 0;
}

}  // namespace

SharedWindow::SharedWindow(MPI_Comm comm, const Topology& topology, std::int64_t bytes) {
    const int rank = rank_in(comm);
    MPI_Comm node_comm = MPI_COMM_NULL;
    int made = 0;
    if (PMPI_Comm_split(comm, topology.node_of(rank), rank, &node_comm) == MPI_SUCCESS) {
        PMPI_Comm_set_errhandler(node_comm, MPI_ERRORS_RETURN);
        made = allocate(node_comm, bytes) ? 1 : 0;
        PMPI_Comm_free(&node_comm);
    }
    PMPI_Allreduce(MPI_IN_PLACE, &made, 1, MPI_INT, MPI_MIN, comm);
    if (made != 0) {  // the epoch that `sync` needs lasts as long as the window
        PMPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
        return;
    }
    if (window_ != MPI_WIN_NULL) PMPI_Win_free(&window_);
    throw NoSharedMemory("ranks of a node share no memory here");
}

SharedWindow::~SharedWindow() {
    if (std::uncaught_exceptions() > 0) return;  // only this rank fails; freeing would wait for the others
    PMPI_Win_unlock_all(window_);
    PMPI_Win_free(&window_);
}

/// The first rank allocates all the memory, and the other ranks query its address.
bool SharedWindow::allocate(MPI_Comm node_comm, std::int64_t bytes) {
    if (!shares_memory(node_comm)) return false;
    void* own = nullptr;
    if (PMPI_Win_allocate_shared(rank_in(node_comm) == 0 ? bytes : 0, 1, MPI_INFO_NULL, node_comm,
                                 static_cast<void*>(&own), &window_) != MPI_SUCCESS) {
        return false;
    }
    PMPI_Win_set_errhandler(window_, MPI_ERRORS_RETURN);
    MPI_Aint size = 0;
    int unit = 0;
    return PMPI_Win_shared_query(window_, 0, &size, &unit, static_cast<void*>(&base_)) == MPI_SUCCESS;
}

}  // namespace timpani
