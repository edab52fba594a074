#include "measure/launch/read_order.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "execute/exchange_values.hpp"
#include "json/json.hpp"
#include "measure/observe/control.hpp"

namespace timpani {

namespace {

constexpr double kLarge = 0x1p1000;        // overflows in single precision, so that a library can't add there unnoticed
constexpr int kCallsBetweenBarriers = 32;  // ranks that only send must not fill the memory of others

/// Calls with each pair of ranks, and gives `take` what is left in each element: a number of ranks, or −1.
void probe_pairs(const Harness& harness, Operation& operation, Buffers& buffers,
                 const std::function<void()>& still_alive,
                 const std::function<void(const std::vector<std::int64_t>&)>& take) {
    auto* const sent = reinterpret_cast<double*>(buffers.send());
    auto* const received = reinterpret_cast<double*>(buffers.receive());
    const auto elements = operation.receive_elements();
    std::vector<std::int64_t> left(static_cast<std::size_t>(elements));
    const ScopedControls scope(operation.controls());
    int calls = 0;
    for (int plus = 0; plus < harness.size; ++plus) {
        for (int minus = plus + 1; minus < harness.size; ++minus) {
            const double value = harness.rank == plus ? kLarge : harness.rank == minus ? -kLarge : 1.0;
            std::fill_n(sent, operation.send_elements(), value);
            std::fill_n(received, elements, std::numeric_limits<double>::quiet_NaN());
            operation(buffers.send(), buffers.receive());
            std::transform(received, received + elements, left.begin(), [&](double each) {
                const bool counts = each >= 0 && each <= harness.size && each == static_cast<int>(each);
                return counts ? static_cast<std::int64_t>(each) : -1;
            });
            take(left);
            still_alive();
            if (++calls % kCallsBetweenBarriers == 0) PMPI_Barrier(harness.comm);
        }
    }
}

}  // namespace

std::string read_order(const Harness& harness, Operation& operation, Buffers& buffers,
                       const std::function<void()>& still_alive) {
    if (operation.datatype().mpi != MPI_DOUBLE || operation.datatype().op != MPI_SUM) {
        throw NotApplicable("the order of addition is read from sums of doubles only");
    }
    std::vector<std::uint64_t> first(static_cast<std::size_t>(operation.receive_elements()));
    auto second = first;
    const auto digest = [](std::vector<std::uint64_t>& digests, const std::vector<std::int64_t>& left) {
        for (std::size_t i = 0; i < digests.size(); ++i) {
            digests[i] = (digests[i] ^ static_cast<std::uint64_t>(left[i] + 2)) * 0x9e3779b97f4a7c15;
            digests[i] ^= digests[i] >> 29;
        }
    };
    probe_pairs(harness, operation, buffers, still_alive, [&](const auto& left) { digest(first, left); });
    std::map<std::uint64_t, std::pair<std::size_t, std::vector<std::int64_t>>> found;  // by digest the first element
    std::vector<std::string> runs;
    for (std::size_t i = 0, end = 0; i < first.size(); i = end) {
        while (end < first.size() && first[end] == first[i]) ++end;
        runs.push_back(std::string("[") + std::to_string(end - i) + ",\"" + std::to_string(first[i]) + "\"]");
        found.try_emplace(first[i], i, std::vector<std::int64_t>{});
    }
    probe_pairs(harness, operation, buffers, still_alive, [&](const auto& left) {
        digest(second, left);
        for (auto& [name, of] : found) of.second.push_back(left[of.first]);
    });
    JsonObject remainders;
    for (const auto& [name, of] : found) remainders.add(std::to_string(name), of.second);
    JsonObject own;
    own.add("changes", first != second).add_json("runs", json_array(runs)).add_json("remainders", remainders.text());
    return std::string("[") + gather_values(std::string(harness.rank == 0 ? "" : ",") + own.text(), harness.comm) + "]";
}

}  // namespace timpani
