#include "measure/observe/tool_interface.hpp"

#include <stdexcept>

namespace timpani {

ToolInterface::ToolInterface() {
    int provided = 0;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
}

ToolInterface::~ToolInterface() { MPI_T_finalize(); }

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
    // Open MPI 4.1 crashes if it is finalized while a handle is allocated, so it is freed before an error is thrown.
    int before = 0;
    int after = 0;
    const bool written = count == 1 && MPI_T_cvar_read(handle, &before) == MPI_SUCCESS &&
                         (before == value || (MPI_T_cvar_write(handle, &value) == MPI_SUCCESS &&
                                              MPI_T_cvar_read(handle, &after) == MPI_SUCCESS && after == value));
    MPI_T_cvar_handle_free(&handle);
    if (!written) {
        throw std::runtime_error("the control variable " + name + " does not take " + std::to_string(value));
    }
    return before;
}

namespace {

MPI_T_pvar_handle open_variable(MPI_T_pvar_session session, const char* name, MPI_Comm world, int size) {
    int index = 0;
    if (MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_SIZE, &index) != MPI_SUCCESS) {
        throw std::runtime_error(std::string("this MPI library has no performance variable ") + name);
    }
    MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
    int count = 0;
    if (MPI_T_pvar_handle_alloc(session, index, static_cast<void*>(&world), &handle, &count) != MPI_SUCCESS ||
        count != size) {
        throw std::runtime_error(std::string("the performance variable ") + name + " can't be read");
    }
    MPI_T_pvar_start(session, handle);
    return handle;
}

}  // namespace

struct SentSoFar::Variables {
    MPI_T_pvar_session session = MPI_T_PVAR_SESSION_NULL;
    MPI_T_pvar_handle messages = MPI_T_PVAR_HANDLE_NULL;
    MPI_T_pvar_handle bytes = MPI_T_PVAR_HANDLE_NULL;
    int size = 0;
};

SentSoFar::SentSoFar(MPI_Comm world) : variables_(std::make_unique<Variables>()) {
    auto& [session, messages, bytes, size] = *variables_;
    MPI_Comm_size(world, &size);
    MPI_T_pvar_session_create(&session);
    messages = open_variable(session, "pml_monitoring_messages_count", world, size);
    bytes = open_variable(session, "pml_monitoring_messages_size", world, size);
}

SentSoFar::~SentSoFar() {
    auto& [session, messages, bytes, size] = *variables_;
    MPI_T_pvar_handle_free(session, &messages);
    MPI_T_pvar_handle_free(session, &bytes);
    MPI_T_pvar_session_free(&session);
}

Sent SentSoFar::read() const {
    const auto& [session, messages, bytes, size] = *variables_;
    const std::vector<std::size_t> zeros(static_cast<std::size_t>(size));
    Sent sent{zeros, zeros};
    MPI_T_pvar_read(session, messages, sent.messages.data());
    MPI_T_pvar_read(session, bytes, sent.bytes.data());
    return sent;
}

}  // namespace timpani
