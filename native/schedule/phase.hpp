#pragma once

#include <array>
#include <stdexcept>
#include <string>
#include <string_view>

#include "schedule/algorithm.hpp"

namespace timpani {

/// An algorithm that a team of ranks runs as a part of a larger one. Inside, ranks are places of the team and buffers
/// are the algorithm's own; outside, they are the whole one's.
class Phase {
  public:
    /// Where the algorithm's send and receive buffers and its scratch lie: from these places on.
    struct Place {
        Buffer buffer;
        std::int64_t first;
    };
    using Places = std::array<Place, 3>;

    /// `inside` is the team's shape: as many ranks as it has, the root's place, nothing of nodes. std::logic_error
    /// where no such algorithm is registered.
    Phase(std::string_view collective, std::string_view name, const Shape& inside)
        : algorithm_(find_algorithm(collective, name)), inside_(inside) {
        if (algorithm_ == nullptr) {
            throw std::logic_error("there is no " + std::string(collective) + "/" + std::string(name));
        }
    }

    [[nodiscard]] std::int64_t rounds() const { return algorithm_->rounds(inside_); }
    [[nodiscard]] std::int64_t scratch(int place) const {
        return algorithm_->scratch == nullptr ? 0 : algorithm_->scratch(inside_, place);
    }

    /// The algorithm's round k at `place`; `member` gives the rank at a place. Nothing after its last round.
    template <typename Member>
    void round(int place, std::int64_t k, const Places& places, const Member& member, Steps& steps) const {
        if (k < 0 || k >= rounds()) return;
        Steps inner;
        algorithm_->round(inside_, place, k, inner);
        const auto outside = [&places](const Region& region) {
            const auto& [buffer, first] = places[static_cast<std::size_t>(region.buffer)];
            return Region{buffer, first + region.first, region.count};
        };
        for (const Step& step : inner.all()) {
            switch (step.kind) {
                case Step::Kind::send:
                    steps.send(member(step.peer), outside(step.from));
                    break;
                case Step::Kind::receive:
                    steps.receive(member(step.peer), outside(step.to));
                    break;
                case Step::Kind::copy:
                    steps.copy(outside(step.from), outside(step.to));
                    break;
                case Step::Kind::reduce:
                    steps.reduce(outside(step.from), outside(step.to));
                    break;
            }
        }
    }

  private:
    const Algorithm* algorithm_;
    Shape inside_;
};

}  // namespace timpani
