// The parametrized round trip of Netgauge (Hoefler, Lichei, Rehm 2007): the first rank sends several messages with a
// delay between them, and the second answers the last. LogGP's parameters follow from how the time grows with each.

#include <chrono>

#include "operations/messages/exchange.hpp"

namespace timpani {

namespace {

void spin(std::chrono::nanoseconds delay) {
    const auto end = std::chrono::steady_clock::now() + delay;
    while (std::chrono::steady_clock::now() < end) {
    }
}

class ParametrizedRoundTrip : public Exchange {
  public:
    explicit ParametrizedRoundTrip(const OperationSpec& spec)
        : Exchange(spec), messages_(spec.value_of("messages")), delay_(spec.value_of("delay_ns")) {}

    int operator()(std::byte* send, std::byte* receive) override {
        if (is_first()) {
            int error = send_to_peer(send);
            for (std::int64_t i = 1; i < messages_; ++i) {
                if (delay_.count() > 0) spin(delay_);
                error |= send_to_peer(send);
            }
            return error | receive_from_peer(receive);
        }
        int error = MPI_SUCCESS;
        if (is_second()) {
            for (std::int64_t i = 0; i < messages_; ++i) error |= receive_from_peer(receive);
            error |= send_to_peer(send);
        }
        return error;
    }

    [[nodiscard]] std::string_view synchronized_by() const override { return "ping_pong"; }
    [[nodiscard]] const OsuLoop& osu_loop() const override { return kOsuLatency; }

  private:
    std::int64_t messages_;
    std::chrono::nanoseconds delay_;
};

const RegisterOperation prtt{"prtt", "default", make<ParametrizedRoundTrip>};

}  // namespace

}  // namespace timpani
