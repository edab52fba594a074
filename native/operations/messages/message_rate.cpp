// Pairs of ranks that send windows in one direction at the same time, as osu_mbw_mr: rank i to rank i + pairs.

#include <algorithm>
#include <string>

#include "execute/rank_and_size.hpp"
#include "operations/messages/exchange.hpp"
#include "operations/messages/window.hpp"

namespace timpani {

namespace {

std::int64_t pairs_of(const OperationSpec& spec) {
    const int ranks = size_of(spec.comm);
    const auto asked = spec.value_of("pairs");
    if (2 * std::max<std::int64_t>(1, asked) > ranks) {
        throw NotApplicable(std::to_string(asked) + " pairs need more ranks than " + std::to_string(ranks));
    }
    return asked == 0 ? ranks / 2 : asked;
}

/// The sender of this rank's pair; of some pair for an idle rank.
std::int64_t sender_of(const OperationSpec& spec) { return rank_in(spec.comm) % pairs_of(spec); }

class MessageRate : public Exchange {
  public:
    explicit MessageRate(const OperationSpec& spec)
        : Exchange(spec, sender_of(spec), sender_of(spec) + pairs_of(spec)),
          pairs_(pairs_of(spec)),
          window_(spec.value_of("window")) {}

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

const RegisterOperation message_rate{"message_rate", "default", make<MessageRate>};

}  // namespace

}  // namespace timpani
