#include "measure/launch/buffer_contents.hpp"

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "json/json.hpp"
#include "operations/operation.hpp"

namespace timpani {

namespace {

constexpr std::int64_t kMaxElements = 1024;  // of all ranks

/// The `count` elements at `from` of every rank, as JSON at rank 0.
std::string gather_elements(const Harness& harness, const Datatype& datatype, const std::byte* from,
                            std::int64_t count) {
    std::int64_t total = 0;
    MPI_Allreduce(&count, &total, 1, MPI_INT64_T, MPI_SUM, harness.comm);
    if (total > kMaxElements) throw NotApplicable(std::to_string(total) + " elements are too many to show");
    std::vector<std::uint64_t> own(static_cast<std::size_t>(count));
    datatype.read(from, own);
    const auto size = static_cast<std::size_t>(harness.size);
    std::vector<int> counts(size);
    std::vector<int> starts(size);
    const int own_count = static_cast<int>(count);
    MPI_Gather(&own_count, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, harness.comm);
    for (std::size_t i = 1; i < size; ++i) starts[i] = starts[i - 1] + counts[i - 1];
    std::vector<std::uint64_t> all(static_cast<std::size_t>(total));
    MPI_Gatherv(own.data(), own_count, MPI_UINT64_T, all.data(), counts.data(), starts.data(), MPI_UINT64_T, 0,
                harness.comm);
    std::vector<std::string> numbers;
    for (const auto value : all) numbers.push_back(std::to_string(value));
    return json_array(numbers);
}

}  // namespace

std::string buffer_contents(const Harness& harness, const Operation& operation, Buffers& buffers) {
    const auto& datatype = operation.datatype();
    const auto sent = gather_elements(harness, datatype, buffers.send(), operation.send_elements());
    const auto received = gather_elements(harness, datatype, buffers.receive(), operation.receive_elements());
    const auto rows = operation.row_lengths();
    return JsonObject()
        .add_json("sent", sent)
        .add_json("received", received)
        .add("sent_row", rows.sent)
        .add("received_row", rows.received)
        .text();
}

}  // namespace timpani
