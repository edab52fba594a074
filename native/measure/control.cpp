#include "measure/control.hpp"

#include <stdexcept>

namespace timpani {

namespace {

/// Writes a variable and returns the value that it had.
int exchange_control(const std::string& name, int value) {
    int index = 0;
    if (MPI_T_cvar_get_index(name.c_str(), &index) != MPI_SUCCESS) {
        throw std::runtime_error("this MPI library has no control variable " + name);
    }
    MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
    int count = 0;
    if (MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count) != MPI_SUCCESS) {
        throw std::runtime_error("the control variable " + name + " can't be opened");
    }
    // Open MPI 4.1 crashes when it is finalised with a handle still allocated, so it goes before any error is thrown.
    int before = 0;
    int after = 0;
    const bool written = count == 1 && MPI_T_cvar_read(handle, &before) == MPI_SUCCESS &&
                         MPI_T_cvar_write(handle, &value) == MPI_SUCCESS &&
                         MPI_T_cvar_read(handle, &after) == MPI_SUCCESS && after == value;
    MPI_T_cvar_handle_free(&handle);
    if (!written) {
        throw std::runtime_error("the control variable " + name + " does not take " + std::to_string(value));
    }
    return before;
}

}  // namespace

ScopedControls::ScopedControls(const Controls& controls) {
    for (const auto& [name, value] : controls) before_.emplace_back(name, exchange_control(name, value));
}

ScopedControls::~ScopedControls() {
    for (const auto& [name, value] : before_) exchange_control(name, value);
}

ControlledCommunicators::~ControlledCommunicators() {
    for (auto& [controls, communicator] : communicators_) MPI_Comm_free(&communicator);
}

MPI_Comm ControlledCommunicators::get(const Controls& controls) {
    const auto found = communicators_.find(controls);
    if (found != communicators_.end()) return found->second;
    MPI_Comm communicator = MPI_COMM_NULL;
    const ScopedControls scope(controls);
    MPI_Comm_dup(world_, &communicator);
    // An algorithm that can't do what it is asked (two_proc on three ranks) fails its cell, not the launch.
    MPI_Comm_set_errhandler(communicator, MPI_ERRORS_RETURN);
    communicators_.emplace(controls, communicator);
    return communicator;
}

}  // namespace timpani
