#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace timpani {

// MPI's tool interface, MPI_T. A library may lack it, as SimGrid's does. Then `no_tool_interface.cpp` replaces
// `tool_interface.cpp`, and a cell that needs the interface fails its launch with a message.

/// Opens the interface. Close it before MPI_Finalize: the reverse order crashes Open MPI 4.1.4.
class ToolInterface {
  public:
    ToolInterface();
    ~ToolInterface();  // NOLINT(performance-trivially-destructible): tool_interface.cpp closes the interface
    ToolInterface(const ToolInterface&) = delete;
    ToolInterface& operator=(const ToolInterface&) = delete;
};

/// Writes an integer control variable, unless it has that value, and returns its old value. Throws std::runtime_error
/// that names the variable that can't be set.
int exchange_control(const std::string& name, int value);

/// What this rank has sent to each rank.
struct Sent {
    std::vector<std::size_t> messages;
    std::vector<std::size_t> bytes;
};

/// Performance variables of Open MPI's monitoring component (`pml_monitoring_enable 1`).
class SentSoFar {
  public:
    /// Throws std::runtime_error if the library lacks these variables.
    explicit SentSoFar(MPI_Comm world);
    ~SentSoFar();
    SentSoFar(const SentSoFar&) = delete;
    SentSoFar& operator=(const SentSoFar&) = delete;

    /// Since MPI started.
    [[nodiscard]] Sent read() const;

  private:
    struct Variables;
    std::unique_ptr<Variables> variables_;
};

}  // namespace timpani
