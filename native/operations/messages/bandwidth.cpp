// Windows of messages under way at once, in one direction or both, as osu_bw and osu_bibw send them: all from one
// buffer into one buffer. MPI does not define the order in which they are written. It doesn't matter, since they carry
// the same data.

#include "operations/messages/exchange.hpp"
#include "operations/messages/window.hpp"

namespace timpani {

namespace {

/// The first rank sends a window, and the second answers the last message with a short one.
class Bandwidth : public Exchange {
  public:
    explicit Bandwidth(const OperationSpec& spec) : Exchange(spec), window_(spec.value_of("window")) {}

    int operator()(std::byte* send, std::byte* receive) override {
        if (is_first()) return window_.send(send, bytes(), peer(), comm());
        if (is_second()) return window_.receive(receive, bytes(), peer(), comm());
        return MPI_SUCCESS;
    }

    [[nodiscard]] std::int64_t receive_elements() const override { return is_second() ? bytes() : 0; }
    [[nodiscard]] std::string_view synchronized_by() const override { return "window"; }
    [[nodiscard]] std::int64_t messages_per_call() const override { return window_.messages(); }
    [[nodiscard]] const OsuLoop& osu_loop() const override { return kOsuWindows; }

  private:
    Window window_;
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
const RegisterOperation bidirectional{"bidirectional", "default", make<Bidirectional>};

}  // namespace

}  // namespace timpani
