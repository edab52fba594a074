// timpani-against-library thorough|cases|brief: calls every Timpani algorithm and the library's collective on the same
// data, and compares every byte that either may have written, including gaps and margins. Exit status 1 if one differs.
// `cases` uses one datatype only, with gaps; `brief` skips most counts and roots.

#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>

#include "collectives/topology.hpp"
#include "execute/elements.hpp"
#include "execute/execution.hpp"
#include "tests/execute/allocations.hpp"
#include "tests/execute/element_kinds.hpp"
#include "tests/execute/reference_call.hpp"

namespace timpani::test {

namespace {

constexpr std::size_t kMargin = 64;  // bytes before and after each buffer, which must not change

using Bytes = std::vector<std::byte>;

/// One call in MPI's terms and in Timpani's, with the data for both.
class Trial {
  public:
    Trial(const Collective& collective, const ElementKind& kind, const CollectiveArguments& args, bool in_place,
          MPI_Comm comm)
        : collective_(collective), kind_(kind), layout_(kind.type), args_(args), in_place_(in_place) {
        MPI_Comm_rank(comm, &rank_);
        arguments_ = library_arguments(collective, args, rank_, comm, kind.type, kind.op);
        const auto send_elements = collective.send_elements(args, rank_);
        auto receive_elements = collective.receive_elements(args, rank_);
        // In place, a rank's contribution lies where its result will be. In a reduce-scatter the contribution is
        // longer, and the library may use the memory after the result.
        if (in_place && collective.reduces() && collective.receive.content != Content::vector) {
            defined_ = kMargin + static_cast<std::size_t>(receive_elements * layout_.extent);
        }
        if (in_place) receive_elements = std::max(receive_elements, send_elements);
        if (collective.one_buffer()) receive_elements = args.count;
        send_ = filled(send_elements, 2 * rank_);
        receive_ = filled(receive_elements, 2 * rank_ + 1);
    }

    /// Describes what is wrong at this rank; nothing if all is right. Collective.
    std::optional<std::string> compare(const Algorithm& algorithm) {
        Execution execution(algorithm, args_, arguments_.comm, kind_.type, kind_.op);
        const auto run_timpani = [&](Bytes& send, Bytes& receive) {
            return execution(send_of(send), receive_of(receive));
        };
        const auto run_library = [&](Bytes& send, Bytes& receive) {
            return reference_call(collective_)(arguments_, send_of(send), receive_of(receive));
        };
        Bytes send = send_;
        Bytes expected = receive_;
        Bytes found = receive_;
        if (run_library(send, expected) != MPI_SUCCESS) return "the library fails";
        send = send_;
        if (run_timpani(send, found) != MPI_SUCCESS) return "Timpani's algorithm fails";
        std::ranges::copy(receive_, found.begin());
        const auto before = allocations();
        run_timpani(send, found);
        if (allocations() != before) return "the second call allocates";
        if (send != send_) return "the send buffer is written";
        const bool undefined = collective_.result == Result::prefix_before && rank_ == 0;
        expected.resize(std::min(defined_, expected.size()));
        found.resize(expected.size());
        if (!undefined && !(kind_.rounds ? nearly(found, expected) : found == expected)) return "results differ";
        return std::nullopt;
    }

  private:
    [[nodiscard]] Bytes filled(std::int64_t elements, int seed) const {
        Bytes bytes(2 * kMargin + static_cast<std::size_t>(elements * layout_.extent));
        auto state = static_cast<std::uint32_t>(seed + 1) * 2654435761U;
        for (std::size_t i = 0; i + 4 <= bytes.size(); i += 4) {
            state = state * 1664525U + 1013904223U;  // Numerical Recipes' generator
            const auto number = static_cast<float>(state >> 8) / (1 << 24) - 0.5F;
            std::memcpy(bytes.data() + i, kind_.rounds ? static_cast<const void*>(&number) : &state, 4);
        }
        return bytes;
    }

    /// For sums of numbers of magnitude under 1/2, whose rounding depends on their order: p ε Σ|x| ≤ p² ε / 2 on either
    /// side.
    [[nodiscard]] bool nearly(const Bytes& found, const Bytes& expected) const {
        const float tolerance = static_cast<float>(args_.ranks * args_.ranks) * std::numeric_limits<float>::epsilon();
        for (std::size_t i = 0; i + 4 <= found.size(); i += 4) {
            float a = 0;
            float b = 0;
            std::memcpy(&a, found.data() + i, sizeof a);
            std::memcpy(&b, expected.data() + i, sizeof b);
            if (!(std::abs(a - b) <= tolerance)) return false;
        }
        return true;
    }

    [[nodiscard]] bool in_place_here() const {
        return in_place_ && (collective_.in_place() == InPlace::send || rank_ == args_.root);
    }
    void* send_of(Bytes& send) const {
        if (in_place_here() && collective_.in_place() != InPlace::receive_at_root) return MPI_IN_PLACE;
        return send.data() + kMargin;
    }
    void* receive_of(Bytes& receive) const {
        if (in_place_here() && collective_.in_place() == InPlace::receive_at_root) return MPI_IN_PLACE;
        return receive.data() + kMargin;
    }

    const Collective& collective_;
    const ElementKind& kind_;
    ElementLayout layout_;
    CollectiveArguments args_;
    bool in_place_;
    int rank_ = 0;
    LibraryArguments arguments_;
    Bytes send_;
    Bytes receive_;
    std::size_t defined_ = std::numeric_limits<std::size_t>::max();  // bytes of the receive buffer that MPI defines
};

/// Unequal blocks, some of them empty. Two ranks exchange equal blocks, as calls in place require.
std::vector<std::int64_t> uneven(const Collective& collective, int ranks, std::int64_t count, bool in_place) {
    std::vector<std::int64_t> counts;
    if (collective.counts == BlockCounts::equal) return counts;
    const int senders = collective.send.content == Content::pairs ? ranks : 1;
    for (int i = 0; i < senders; ++i) {
        for (int j = 0; j < ranks; ++j)
            counts.push_back((in_place ? 5 * (i + j) + i * j : 7 * i + 5 * j) % (count + 1));
    }
    return counts;
}

/// The arguments with an algorithm's default parameters, or with others that give several segments of a few hundred
/// bytes.
CollectiveArguments with_parameters(CollectiveArguments args, const Algorithm& algorithm, bool defaults) {
    for (std::size_t i = 0; i < algorithm.parameters.size(); ++i) {
        const auto& parameter = algorithm.parameters[i];
        const std::int64_t other = parameter.name == "segment_bytes" ? 200 : 3;
        args.parameters.at(i) = defaults ? parameter.default_value : std::max(parameter.minimum, other);
    }
    return args;
}

/// Ranks alternating over two nodes behind two switches; if `thorough`, also unevenly over three nodes behind two, and
/// each on its own node.
std::vector<Topology> topologies(int ranks, bool thorough) {
    std::vector<Topology> all;
    const auto add = [&](auto node_of) {
        std::vector<int> nodes;
        std::vector<int> groups;
        for (int rank = 0; rank < ranks; ++rank) {
            nodes.push_back(node_of(rank));
            groups.push_back(nodes.back() % 2);
        }
        all.emplace_back(nodes, groups);
    };
    add([](int rank) { return rank % 2; });
    if (thorough) {
        add([](int rank) { return rank < 2 ? 0 : 1 + rank / 5; });
        add([](int rank) { return rank; });
    }
    return all;
}

/// Which trials run.
struct Extent {
    bool all_cases;  // counts, roots and topologies
    bool all_kinds;  // of elements
};

int failures = 0;
int trials = 0;

void try_kind(const Algorithm& algorithm, const ElementKind& kind, const CollectiveArguments& args, bool in_place,
              MPI_Comm comm) {
    Trial trial(*find_collective(algorithm.collective), kind, args, in_place, comm);
    std::optional<std::string> wrong;
    if (algorithm.restrictions.commutative && !commutes(kind.op)) {
        wrong = "an operator that does not commute is admitted";
        try {
            const Execution refused(algorithm, args, comm, kind.type, kind.op);
        } catch (const std::runtime_error&) {
            wrong.reset();
        }
    } else {
        wrong = trial.compare(algorithm);
    }
    ++trials;
    if (!wrong) return;
    ++failures;
    std::fprintf(stderr, "%s/%s, %s, %lld elements, root %d%s: %s\n", std::string(algorithm.collective).c_str(),
                 std::string(algorithm.name).c_str(), std::string(kind.name).c_str(),
                 static_cast<long long>(args.count), args.root, in_place ? ", in place" : "", wrong->c_str());
}

void try_algorithm(const Algorithm& algorithm, const ElementKinds& kinds, Extent extent, int ranks, MPI_Comm comm) {
    const Collective& collective = *find_collective(algorithm.collective);
    const bool reduces = collective.reduces();
    const auto tried = extent.all_kinds ? kinds.all(reduces) : std::vector{kinds.with_gaps(reduces)};
    std::vector<std::int64_t> counts{7};
    std::vector<int> roots{ranks - 1};
    if (extent.all_cases) {
        counts = {0, 1, std::max(1, ranks - 1), 7, 601};
        if (collective.rooted()) roots = {0, ranks / 2, ranks - 1};
    }
    for (const auto count : counts) {
        for (const int root : roots) {
            for (const bool in_place : {false, true}) {
                if (in_place && collective.in_place() == InPlace::never) continue;
                const auto blocks = uneven(collective, ranks, count, in_place);
                for (const bool defaults : {true, false}) {
                    if (!defaults && algorithm.parameters.empty()) continue;
                    for (const auto& topology :
                         topologies(ranks, extent.all_cases && algorithm.restrictions.topology)) {
                        CollectiveArguments args =
                            with_parameters({ranks, count, root, 1, true, {}, blocks}, algorithm, defaults);
                        args.topology = &topology;
                        if (!algorithm.restrictions.admit(args)) continue;
                        for (const auto& kind : tried) try_kind(algorithm, kind, args, in_place, comm);
                    }
                }
            }
        }
    }
}

void run(Extent extent) {
    int ranks = 0;
    int rank = 0;
    MPI_Comm library_comm = MPI_COMM_WORLD;
    MPI_Comm_size(library_comm, &ranks);
    MPI_Comm_rank(library_comm, &rank);
    const ElementKinds kinds;
    for (const Algorithm* algorithm : algorithms()) try_algorithm(*algorithm, kinds, extent, ranks, library_comm);
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, library_comm);
    if (rank == 0) std::printf("%zu algorithms, %d calls, %d differ\n", algorithms().size(), trials, failures);
}

}  // namespace

}  // namespace timpani::test

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const std::string_view extent = argc > 1 ? argv[1] : "thorough";
    timpani::test::run({.all_cases = extent != "brief", .all_kinds = extent != "cases"});
    MPI_Finalize();
    return timpani::test::failures == 0 ? 0 : 1;
}
