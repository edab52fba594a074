// Pairs of ranks that send windows one way at the same time, as osu_mbw_mr: rank i to rank i + pairs.

#include <string>

#include "operations/exchange.hpp"
#include "operations/window.hpp"

namespace timpani {

namespace {

/// The sender of this rank's pair; of any pair for an idle rank.
std::int64_t sender_of(const Request& request) {
    int rank = 0;
    int ranks = 0;
    MPI_Comm_rank(request.comm, &rank);
    MPI_Comm_size(request.comm, &ranks);
    const auto pairs = request.parameters[0];
    if (2 * pairs > ranks) {
        throw NotApplicable(std::to_string(pairs) + " pairs need more ranks than " + std::to_string(ranks));
    }
    return rank % pairs;
}

class MessageRate : public Exchange {
  public:
    explicit MessageRate(const Request& request)
        : Exchange(request, sender_of(request), sender_of(request) + request.parameters[0]),
          pairs_(request.parameters[0]),
          window_(request.parameters[1]) {}

    int operator()(std::byte* send, std::byte* receive) override {
        if (is_first()) return window_.send(send, bytes(), peer(), comm());
        if (is_second()) return window_.receive(receive, bytes(), peer(), comm());
        return MPI_SUCCESS;
    }

    [[nodiscard]] Role role(int rank) const override {
        return rank < pairs_ ? Role::timed : rank < 2 * pairs_ ? Role::partner : Role::idle;
    }
    [[nodiscard]] std::int64_t receive_elements() const override { return is_second() ? bytes() : 0; }
    [[nodiscard]] std::int64_t messages_per_call() const override { return window_.messages() * pairs_; }
    [[nodiscard]] const OsuLoop& osu_loop() const override { return kOsuWindows; }

  private:
    std::int64_t pairs_;
    Window window_;
};

}  // namespace

std::unique_ptr<Operation> make_message_rate(const Request& request) { return std::make_unique<MessageRate>(request); }

}  // namespace timpani
