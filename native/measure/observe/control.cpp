#include "measure/observe/control.hpp"

#include "execute/rank_and_size.hpp"
#include "measure/observe/tool_interface.hpp"

namespace timpani {

// Delegates, so that an exception in its body restores what it has set.
ScopedControls::ScopedControls(const Controls& controls) : ScopedControls() {
    for (const auto& [name, value] : controls) before_.emplace_back(name, exchange_control(name, value));
}

ScopedControls::~ScopedControls() {
    for (const auto& [name, value] : before_) exchange_control(name, value);
}

ControlledCommunicators::~ControlledCommunicators() {
    for (auto& [controls, communicator] : communicators_) PMPI_Comm_free(&communicator);
}

MPI_Comm ControlledCommunicators::get(const Controls& controls) {
    const auto found = communicators_.find(controls);
    if (found != communicators_.end()) return found->second;
    MPI_Comm communicator = MPI_COMM_NULL;
    const ScopedControls scope(controls);
    // Not a duplicate, which would call the functions by which a program copies its attributes.
    PMPI_Comm_split(parent_, 0, rank_in(parent_), &communicator);
    // An algorithm that doesn't apply (two_proc on three ranks) fails its cell, not the launch.
    PMPI_Comm_set_errhandler(communicator, MPI_ERRORS_RETURN);
    communicators_.emplace(controls, communicator);
    return communicator;
}

}  // namespace timpani
