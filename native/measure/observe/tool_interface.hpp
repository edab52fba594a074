#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace timpani {

// MPI's tool interface, MPI_T. A library may lack it (SimGrid's does): `no_tool_interface.cpp` is built in place of
// `tool_interface.cpp` then, and whatever a cell asks of the interface fails that cell's launch in words.

/// Opens the interface; to be closed before MPI_Finalize, since the other order crashes Open MPI 4.1.4.
class ToolInterface {
  public:
    ToolInterface();
    ~ToolInterface();  // NOLINT(performance-trivially-destructible): tool_interface.cpp closes the interface
    ToolInterface(const ToolInterface&) = delete;
    ToolInterface& operator=(const ToolInterface&) = delete;
};

/// Writes an integer control variable and returns the value that it had; throws std::runtime_error naming the variable
/// that can't be set.
int exchange_control(const std::string& name, int value);

/// Performance variables of Open MPI's monitoring component (`pml_monitoring_enable 1`): what this rank has sent to
/// each other so far.
class SentSoFar {
  public:
    /// Throws std::runtime_error where the library has no such variables.
    explicit SentSoFar(MPI_Comm world);
    ~SentSoFar();
    SentSoFar(const SentSoFar&) = delete;
    SentSoFar& operator=(const SentSoFar&) = delete;

    [[nodiscard]] std::vector<std::size_t> messages() const;
    [[nodiscard]] std::vector<std::size_t> bytes() const;

  private:
    struct Variables;
    std::unique_ptr<Variables> variables_;
};

}  // namespace timpani
