#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "operations/operation.hpp"

namespace timpani {

/// Messages from one buffer that are under way at once.
class Window {
  public:
    explicit Window(std::int64_t messages) : requests_(static_cast<std::size_t>(messages), MPI_REQUEST_NULL) {}

    int start_sending(const std::byte* from, int bytes, int peer, MPI_Comm comm) {
        int error = MPI_SUCCESS;
        for (auto& request : requests_) error |= MPI_Isend(from, bytes, MPI_BYTE, peer, kMessageTag, comm, &request);
        return error;
    }
    int start_receiving(std::byte* into, int bytes, int peer, MPI_Comm comm) {
        int error = MPI_SUCCESS;
        for (auto& request : requests_) error |= MPI_Irecv(into, bytes, MPI_BYTE, peer, kMessageTag, comm, &request);
        return error;
    }
    int wait() { return MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE); }

    /// Sends a window to `peer`, and receives its short answer.
    int send(const std::byte* from, int bytes, int peer, MPI_Comm comm) {
        int error = start_sending(from, bytes, peer, comm);
        error |= wait();
        std::array<std::byte, kAnswerBytes> answer{};
        return error | MPI_Recv(answer.data(), kAnswerBytes, MPI_BYTE, peer, kAnswerTag, comm, MPI_STATUS_IGNORE);
    }
    int receive(std::byte* into, int bytes, int peer, MPI_Comm comm) {
        int error = start_receiving(into, bytes, peer, comm);
        error |= wait();
        const std::array<std::byte, kAnswerBytes> answer{};
        return error | MPI_Send(answer.data(), kAnswerBytes, MPI_BYTE, peer, kAnswerTag, comm);
    }

    [[nodiscard]] std::int64_t messages() const { return static_cast<std::int64_t>(requests_.size()); }

  private:
    static constexpr int kAnswerBytes = 4;
    static constexpr int kAnswerTag = 6;
    std::vector<MPI_Request> requests_;
};

}  // namespace timpani
