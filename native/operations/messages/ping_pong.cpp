// Ping-pong: a message there, and one of the same size back. Its latency is half of the round trip.

#include "operations/messages/exchange.hpp"

namespace timpani {

namespace {

class PingPong : public Exchange {
  public:
    using Exchange::Exchange;

    int operator()(std::byte* send, std::byte* receive) override {
        if (role(rank()) == Role::idle) return MPI_SUCCESS;
        const int error = is_first() ? send_to_peer(send) : receive_from_peer(receive);
        return error | (is_first() ? receive_from_peer(receive) : send_to_peer(send));
    }

    [[nodiscard]] std::string_view synchronized_by() const override { return "ping_pong"; }
    [[nodiscard]] std::int64_t messages_per_call() const override { return 2; }
    [[nodiscard]] const OsuLoop& osu_loop() const override { return kOsuLatency; }
};

const RegisterOperation latency{"latency", "default", make<PingPong>};

}  // namespace

}  // namespace timpani
