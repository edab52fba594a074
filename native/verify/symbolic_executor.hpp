#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "schedule/dependencies.hpp"
#include "verify/affine.hpp"
#include "verify/window_order.hpp"

namespace timpani {

/// What a run finds wrong; thrown to the one place that answers.
struct Mistake : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Runs all ranks of one call in one process, on symbolic values in place of data, as find_mistake describes it.
class SymbolicExecutor {
  public:
    /// `steps` holds each rank's; `order` is of all calls so far where the algorithm has a window, else nullptr.
    SymbolicExecutor(const Algorithm& algorithm, const CollectiveArguments& args,
                     const std::vector<std::vector<Step>>& steps, WindowOrder* order);

    /// Both throw Mistake.
    void run();
    void check_results();

  private:
    struct Rank {
        std::array<std::vector<Affine>, kBuffers - 1> memory;  // its own
        std::vector<Affine>* window = nullptr;                 // its node's
        std::vector<Step> steps;
        std::vector<char> ended;
        DependencyTracker dependencies;
        std::optional<std::vector<std::int64_t>> depends_on;  // the next step; nothing until it was asked for
        std::size_t next = 0;
        std::vector<bool> arrived;  // in a barrier: ranks known to have entered it, itself among them

        std::vector<Affine>& buffer(const Region& region) {
            return region.buffer == Buffer::window ? *window : memory[static_cast<std::size_t>(region.buffer)];
        }
    };
    struct Posted {
        int rank;
        std::size_t number;
        std::vector<bool> arrived;  // when it was posted
    };
    using Channel = std::pair<int, int>;                  // sender, receiver
    using Queues = std::map<Channel, std::list<Posted>>;  // lists, since most are empty most of the time

    Rank& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
    bool advance(int rank);
    void issue(int rank, Rank& each, std::size_t number, const Step& step);
    void post(Queues& own, Queues& other, const Channel& channel, const Posted& posted);
    void move(const Posted& send, const Posted& receive);
    void check_regions(int rank, Rank& each, const Step& step) const;
    void check_order(int rank, std::size_t number, const Step& step, std::span<const std::int64_t> waited);
    void check_all_arrived() const;
    void read(int rank, Rank& each, std::size_t number, const Region& region) const;
    Affine expected_of(const Origin& origin, std::map<std::int64_t, std::vector<Affine>>& prefixes) const;

    CollectiveArguments args_;
    const Collective& collective_;
    WindowOrder* order_;
    std::vector<Rank> ranks_;
    std::vector<std::vector<Affine>> windows_;  // of each node
    std::deque<int> ready_;
    Queues sends_;
    Queues receives_;
};

}  // namespace timpani
