#pragma once

#include <optional>
#include <string>

#include "measure/buffers.hpp"
#include "operations/operation.hpp"

namespace timpani {

/// Counts what this rank sends to each other, through Open MPI's monitoring component (`pml_monitoring_enable 1`) and
/// its MPI_T performance variables.
class MessageCounter {
  public:
    /// Throws std::runtime_error where the library has no such variables.
    explicit MessageCounter(MPI_Comm world);
    ~MessageCounter();
    MessageCounter(const MessageCounter&) = delete;
    MessageCounter& operator=(const MessageCounter&) = delete;

    /// Collective. Calls the operation twice, since the first call on a communicator may include its own set-up, and
    /// counts the second. At rank 0 `{"messages":[[…],…],"bytes":[[…],…]}` with a row per sender.
    std::string count(Operation& operation, Buffers& buffers);

  private:
    [[nodiscard]] std::vector<std::size_t> read(MPI_T_pvar_handle handle) const;

    MPI_Comm world_;
    int size_ = 0;
    MPI_T_pvar_session session_ = MPI_T_PVAR_SESSION_NULL;
    MPI_T_pvar_handle messages_ = MPI_T_PVAR_HANDLE_NULL;
    MPI_T_pvar_handle bytes_ = MPI_T_PVAR_HANDLE_NULL;
};

}  // namespace timpani
