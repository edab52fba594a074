// All-to-allv as one scatterv from every rank, one after another: the study's type IV.

#include <vector>

#include "composed/composed_collective.hpp"
#include "execute/rank_and_size.hpp"

namespace timpani {

namespace {

class Scatters : public ComposedCollective {
  public:
    explicit Scatters(const ComposedSpec& spec) : spec_(spec), rank_(rank_in(spec.comm)) {
        for (int peer = 0; peer < spec.args.ranks; ++peer) {
            const PairBlock to = pair_block_of(spec.args, rank_, peer);
            counts_.push_back(static_cast<int>(to.count));
            displacements_.push_back(static_cast<int>(to.at_sender));
            from_.push_back(pair_block_of(spec.args, peer, rank_));
        }
    }

    int operator()(const void* send, void* receive) override {
        FirstError error;
        for (int root = 0; const PairBlock& block : from_) {
            auto* const at =
                static_cast<std::byte*>(receive) + static_cast<std::size_t>(block.at_receiver) * spec_.element_bytes;
            error.take(MPI_Scatterv(send, counts_.data(), displacements_.data(), spec_.type, at,
                                    static_cast<int>(block.count), spec_.type, root++, spec_.comm));
        }
        return error.get();
    }

  private:
    ComposedSpec spec_;
    int rank_;
    std::vector<int> counts_;
    std::vector<int> displacements_;
    std::vector<PairBlock> from_;
};

}  // namespace

std::unique_ptr<ComposedCollective> make_composed::alltoallv(const ComposedSpec& spec, const Shape&) {
    return std::make_unique<Scatters>(spec);
}

}  // namespace timpani
