#include "measure/cell/count_messages.hpp"

#include <optional>
#include <vector>

#include "execute/rank_and_size.hpp"
#include "json/json.hpp"
#include "measure/observe/control.hpp"

namespace timpani {

namespace {

/// A p × p matrix for the p ranks of `comm`, as JSON at rank 0. Each rank has its row.
std::string gather_matrix(const std::vector<std::size_t>& before, const std::vector<std::size_t>& after,
                          MPI_Comm comm) {
    const int count = size_of(comm);
    const auto size = static_cast<std::size_t>(count);
    std::vector<std::int64_t> row(size);
    for (std::size_t i = 0; i < size; ++i) row[i] = static_cast<std::int64_t>(after[i] - before[i]);
    std::vector<std::int64_t> matrix(size * size);
    MPI_Gather(row.data(), count, MPI_INT64_T, matrix.data(), count, MPI_INT64_T, 0, comm);
    std::vector<std::string> rows;
    for (std::size_t i = 0; i < size; ++i) {
        std::vector<std::string> numbers(size);
        for (std::size_t j = 0; j < size; ++j) numbers[j] = std::to_string(matrix[i * size + j]);
        rows.push_back(json_array(numbers));
    }
    return json_array(rows);
}

}  // namespace

std::string MessageCounter::count(Operation& operation, Buffers& buffers) {
    std::optional<ScopedControls> scope(operation.controls());
    operation(buffers.send(), buffers.receive());
    const auto messages_before = sent_.messages();
    const auto bytes_before = sent_.bytes();
    operation(buffers.send(), buffers.receive());
    const auto messages_after = sent_.messages();
    const auto bytes_after = sent_.bytes();
    scope.reset();  // the harness's collectives follow
    const auto messages = gather_matrix(messages_before, messages_after, comm_);
    const auto bytes = gather_matrix(bytes_before, bytes_after, comm_);
    return JsonObject().add_json("messages", messages).add_json("bytes", bytes).text();
}

}  // namespace timpani
