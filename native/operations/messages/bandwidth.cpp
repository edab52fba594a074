// Windows of messages under way at once, in one direction, both, or between many pairs of ranks, as osu_bw, osu_bibw
// and osu_mbw_mr send them: all from one buffer into one buffer. MPI does not define the order in which they are
// written. It doesn't matter, since they carry the same data.

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "execute/rank_and_size.hpp"
#include "operations/messages/exchange.hpp"
#include "operations/operation.hpp"

namespace timpani {

namespace {

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

/// The first rank sends a window, and the second answers the last message with a short one.
class Bandwidth : public Exchange {
  public:
    explicit Bandwidth(const OperationSpec& spec) : Bandwidth(spec, spec.value_of("first"), spec.value_of("second")) {}

    int operator()(std::byte* send, std::byte* receive) override {
        if (is_first()) return window_.send(send, bytes(), peer(), comm());
        if (is_second()) return window_.receive(receive, bytes(), peer(), comm());
        return MPI_SUCCESS;
    }

    [[nodiscard]] std::int64_t receive_elements() const override { return is_second() ? bytes() : 0; }
    [[nodiscard]] std::string_view synchronized_by() const override { return "window"; }
    [[nodiscard]] std::int64_t messages_per_call() const override { return window_.messages(); }
    [[nodiscard]] const OsuLoop& osu_loop() const override { return kOsuWindows; }

  protected:
    Bandwidth(const OperationSpec& spec, std::int64_t first, std::int64_t second)
        : Exchange(spec, first, second), window_(spec.value_of("window")) {}

  private:
    Window window_;
};

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

/// Pairs of ranks do the same at the same time: rank i sends to rank i + pairs.
class MessageRate : public Bandwidth {
  public:
    explicit MessageRate(const OperationSpec& spec)
        : Bandwidth(spec, sender_of(spec), sender_of(spec) + pairs_of(spec)), pairs_(pairs_of(spec)) {}

    [[nodiscard]] Role role(int rank) const override {
        return rank < pairs_ ? Role::timed : rank < 2 * pairs_ ? Role::partner : Role::idle;
    }
    [[nodiscard]] std::string_view synchronized_by() const override { return {}; }
    [[nodiscard]] std::int64_t messages_per_call() const override { return Bandwidth::messages_per_call() * pairs_; }

  private:
    std::int64_t pairs_;
};

/// Both ranks send a window at once.
class Bidirectional : public Exchange {
  public:
    explicit Bidirectional(const OperationSpec& spec)
        : Exchange(spec), sent_(spec.value_of("window")), received_(sent_) {}

    int operator()(std::byte* send, std::byte* receive) override {
        if (role(rank()) == Role::idle) return MPI_SUCCESS;
        int error = received_.start_receiving(receive, bytes(), peer(), comm());
        error |= sent_.start_sending(send, bytes(), peer(), comm());
        error |= sent_.wait();
        return error | received_.wait();
    }

    [[nodiscard]] std::string_view synchronized_by() const override { return "window"; }
    [[nodiscard]] std::int64_t messages_per_call() const override { return 2 * sent_.messages(); }
    [[nodiscard]] const OsuLoop& osu_loop() const override { return kOsuWindows; }

  private:
    Window sent_;
    Window received_;
};

const RegisterOperation bandwidth{"bandwidth", "default", make<Bandwidth>};
const RegisterOperation message_rate{"message_rate", "default", make<MessageRate>};
const RegisterOperation bidirectional{"bidirectional", "default", make<Bidirectional>};

}  // namespace

}  // namespace timpani
