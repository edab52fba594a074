#include "measure/launch/buffer_contents.hpp"

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "execute/exchange_values.hpp"
#include "json/json.hpp"
#include "operations/operation.hpp"

namespace timpani {

namespace {

constexpr std::int64_t kMaxElements = 1024;  // of all ranks

/// The `count` elements at `from` of every rank, at rank 0.
std::vector<std::int64_t> gather_elements(const Harness& harness, const Datatype& datatype, const std::byte* from,
                                          std::int64_t count) {
    std::int64_t total = 0;
    MPI_Allreduce(&count, &total, 1, MPI_INT64_T, MPI_SUM, harness.comm);
    if (total > kMaxElements) throw NotApplicable(std::to_string(total) + " elements are too many to show");
    std::vector<std::uint64_t> own(static_cast<std::size_t>(count));
    datatype.read(from, own);
    return gather_values(std::vector<std::int64_t>(own.begin(), own.end()), harness.comm);
}

}  // namespace

std::string buffer_contents(const Harness& harness, const Operation& operation, Buffers& buffers) {
    const auto& datatype = operation.datatype();
    const auto sent = gather_elements(harness, datatype, buffers.send(), operation.send_elements());
    const auto received = gather_elements(harness, datatype, buffers.receive(), operation.receive_elements());
    const auto rows = operation.row_lengths();
    return JsonObject()
        .add("sent", sent)
        .add("received", received)
        .add("sent_row", rows.sent)
        .add("received_row", rows.received)
        .text();
}

}  // namespace timpani
