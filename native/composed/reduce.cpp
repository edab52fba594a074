// Reduce, nodes first: the library's reduce at each level, of the results of the level before. A level of one rank is a
// copy: SimGrid 3.32 crashes there in the reductions that Open MPI would choose.

#include <cstring>
#include <vector>

#include "composed/hierarchical.hpp"

namespace timpani {

namespace {

class Reduce : public Hierarchical {
  public:
    Reduce(const ComposedSpec& spec, const Shape& shape) : Hierarchical(spec, shape) {
        if (!is_root() && levels()[0].led_by(rank())) {
            reduced_.resize(bytes());
        }
    }

  private:
    int run(std::span<const MPI_Comm> comms, const void* send, void* receive) override {
        void* const sum = is_root() ? receive : reduced_.data();
        FirstError error;
        for (std::size_t i = 0; i < comms.size() && levels()[i].joined_by_me(); ++i) {
            const bool leads = levels()[i].led_by(rank());
            const void* const own = i == 0 ? send : leads ? MPI_IN_PLACE : sum;
            if (levels()[i].members.size() > 1) {
                error.take(MPI_Reduce(own, leads ? sum : nullptr, count(), spec().type, spec().op, 0, comms[i]));
            } else if (i == 0 && count() > 0) {
                std::memcpy(sum, send, bytes());
            }
        }
        return error.get();
    }

    [[nodiscard]] std::size_t bytes() const { return static_cast<std::size_t>(count()) * spec().element_bytes; }

    std::vector<std::byte> reduced_;  // of the ranks that a leader other than the root leads
};

}  // namespace

std::unique_ptr<ComposedCollective> make_composed::reduce(const ComposedSpec& spec, const Shape& shape) {
    return std::make_unique<Reduce>(spec, shape);
}

}  // namespace timpani
