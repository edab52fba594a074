#pragma once

#include <string>

#include "collectives/collective.hpp"
#include "operations/operation.hpp"

namespace timpani {

/// Messages of a given size between two ranks, the first of which reads the clock. The other ranks are idle.
class Exchange : public Operation {
  public:
    /// Parameters `first` and `second` are the two ranks.
    explicit Exchange(const OperationSpec& spec) : Exchange(spec, spec.value_of("first"), spec.value_of("second")) {}

    [[nodiscard]] Role role(int rank) const override {
        return rank == first_ ? Role::timed : rank == second_ ? Role::partner : Role::idle;
    }
    [[nodiscard]] std::int64_t send_elements() const override { return role(rank()) == Role::idle ? 0 : bytes_; }
    [[nodiscard]] std::int64_t receive_elements() const override { return role(rank()) == Role::idle ? 0 : bytes_; }
    void sent(std::int64_t first, Values values) const override { fill_from(rank(), first, values); }
    void expected(std::int64_t first, Values values) const override { fill_from(peer(), first, values); }

  protected:
    Exchange(const OperationSpec& spec, std::int64_t first, std::int64_t second)
        : Operation(find_datatype("uint8"), spec.comm, spec.controls) {
        if (first >= ranks() || second >= ranks() || first == second) {
            throw NotApplicable("ranks " + std::to_string(first) + " and " + std::to_string(second) +
                                " are not two different ones of " + std::to_string(ranks()));
        }
        first_ = static_cast<int>(first);
        second_ = static_cast<int>(second);
        bytes_ = int_count(spec.bytes, datatype());
    }

    [[nodiscard]] bool is_first() const { return rank() == first_; }
    [[nodiscard]] bool is_second() const { return rank() == second_; }
    [[nodiscard]] int peer() const { return is_first() ? second_ : first_; }
    [[nodiscard]] int bytes() const { return bytes_; }

    int send_to_peer(const std::byte* send) const {
        return MPI_Send(send, bytes_, MPI_BYTE, peer(), kMessageTag, comm());
    }
    int receive_from_peer(std::byte* receive) const {
        return MPI_Recv(receive, bytes_, MPI_BYTE, peer(), kMessageTag, comm(), MPI_STATUS_IGNORE);
    }

  private:
    static void fill_from(int rank, std::int64_t first, Values values) {
        fill(values, first, [rank](std::int64_t i) { return moved_value(rank, i); });
    }

    int first_ = 0;
    int second_ = 0;
    int bytes_ = 0;
};

}  // namespace timpani
