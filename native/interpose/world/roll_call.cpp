#include "interpose/world/roll_call.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <sstream>
#include <string_view>
#include <thread>

#include "interpose/world/returned_errors.hpp"

namespace timpani {

namespace {

using Clock = std::chrono::steady_clock;

// Ranks leave MPI_Init at nearly the same time. If rank 0 is there, the others wait longer than it waits for them.
constexpr std::chrono::seconds kWaitForOthers{5};
constexpr std::chrono::seconds kWaitForAnswer{15};
constexpr std::chrono::microseconds kMinPause{100};
constexpr std::chrono::microseconds kMaxPause{20'000};
constexpr std::size_t kMaxAnswerLength = 200;  // MPICH has 256 bytes for a port's name
constexpr std::string_view kNobody = "nobody";

/// Ranks as text, `0-3,7`.
std::string as_ranges(const std::vector<int>& ranks) {
    std::string text;
    for (std::size_t i = 0; i < ranks.size();) {
        std::size_t last = i;
        while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
        if (!text.empty()) text += ',';
        text += std::to_string(ranks[i]);
        if (last > i) text += '-' + std::to_string(ranks[last]);
        i = last + 1;
    }
    return text;
}

/// The inverse; none of another text.
std::vector<int> from_ranges(const std::string& text) {
    std::vector<int> ranks;
    std::istringstream parts(text);
    for (int first = 0; parts >> first; parts.ignore()) {  // the comma
        int last = first;
        if (parts.peek() == '-') parts.ignore() >> last;
        for (int rank = first; rank <= last; ++rank) ranks.push_back(rank);
    }
    return ranks;
}

/// What the ranks of one world publish and look up, under private names.
class NameService {
  public:
    NameService() {
        const char* const job = std::getenv("PMIX_NAMESPACE");  // programs that were spawned share the service
        prefix_ = std::string("timpani.") + (job == nullptr ? "" : job) + ".";
    }

    [[nodiscard]] bool publish(const std::string& name, const std::string& value) const {
        return PMPI_Publish_name((prefix_ + name).c_str(), MPI_INFO_NULL, value.c_str()) == MPI_SUCCESS;
    }
    [[nodiscard]] std::optional<std::string> look_up(const std::string& name) const {
        std::array<char, MPI_MAX_PORT_NAME + 1> value{};
        if (PMPI_Lookup_name((prefix_ + name).c_str(), MPI_INFO_NULL, value.data()) != MPI_SUCCESS) return {};
        return value.data();
    }
    /// Waits until the name is published, at most until `deadline`.
    [[nodiscard]] std::optional<std::string> wait_for(const std::string& name, Clock::time_point deadline) const {
        for (auto pause = kMinPause;; pause = std::min(2 * pause, kMaxPause)) {
            if (auto value = look_up(name)) return value;
            if (Clock::now() >= deadline) return {};
            std::this_thread::sleep_for(pause);
        }
    }

  private:
    std::string prefix_;
};

// Names: each rank's number, when it is there; `answer`: what rank 0 found; `gave-up`: by a rank that waited too long
// for the answer; `final`: what applies. A rank that gave up then reads `answer`, and rank 0 reads `gave-up` after it
// wrote `answer`. One of them sees the other, so no rank uses an answer that others don't have.

std::vector<int> collect(const NameService& names, int ranks) {
    std::vector<int> present{0};
    const auto deadline = Clock::now() + kWaitForOthers;
    for (int rank = 1; rank < ranks; ++rank) {
        if (names.wait_for(std::to_string(rank), deadline)) present.push_back(rank);
    }
    std::string answer = as_ranges(present);
    if (answer.size() > kMaxAnswerLength) answer = kNobody;
    if (!names.publish("answer", answer) || names.look_up("gave-up")) answer = kNobody;
    if (!names.publish("final", answer)) answer = kNobody;
    return from_ranges(answer);
}

std::vector<int> await_answer(const NameService& names) {
    const auto began = Clock::now();
    auto answer = names.wait_for("final", began + kWaitForOthers);
    if (!answer && names.look_up("0")) answer = names.wait_for("final", began + kWaitForAnswer);
    if (!answer) {
        const bool published = names.publish("gave-up", "yes");
        if (published && names.look_up("answer")) answer = names.wait_for("final", Clock::time_point::max());
    }
    return from_ranges(answer.value_or(std::string(kNobody)));
}

/// Whether no lower rank has the library, if rank 0 does not.
bool is_first(const NameService& names, int rank) {
    for (int before = 0; before < rank; ++before) {
        if (names.look_up(std::to_string(before))) return false;
    }
    return true;
}

}  // namespace

Roll call_roll(int rank, int ranks) {
    Roll all{.present = std::vector<int>(static_cast<std::size_t>(ranks)), .is_first = rank == 0};
    std::iota(all.present.begin(), all.present.end(), 0);
    MPI_Comm parent = MPI_COMM_NULL;
    PMPI_Comm_get_parent(&parent);
    if (ranks == 1) return all;
    // Spawned, and the name service can't distinguish its world from others.
    if (parent != MPI_COMM_NULL && std::getenv("PMIX_NAMESPACE") == nullptr) return all;
    const ReturnedErrors of_world(MPI_COMM_WORLD);  // MPI 3 reports errors there,
    const ReturnedErrors of_self(MPI_COMM_SELF);    // and MPI 4 here
    const NameService names;
    if (!names.publish(std::to_string(rank), "here")) return all;
    std::vector<int> present = rank == 0 ? collect(names, ranks) : await_answer(names);
    if (!std::ranges::binary_search(present, rank)) present.clear();  // it was too late: the others continue without it
    return {present, present.empty() ? is_first(names, rank) : present.front() == rank};
}

}  // namespace timpani
