#include "measure/cell/count_messages.hpp"

#include <optional>
#include <span>
#include <vector>

#include "execute/exchange_values.hpp"
#include "json/json.hpp"
#include "measure/observe/control.hpp"

namespace timpani {

namespace {

/// A p × p matrix for the p ranks of `comm`, as JSON at rank 0. Each rank has its row.
std::string gather_matrix(const std::vector<std::size_t>& before, const std::vector<std::size_t>& after,
                          MPI_Comm comm) {
    std::vector<std::size_t> row(before.size());
    for (std::size_t i = 0; i < row.size(); ++i) row[i] = after[i] - before[i];
    const auto matrix = gather_values(row, comm);
    std::vector<std::string> rows;
    for (std::size_t first = 0; first < matrix.size(); first += row.size()) {
        std::vector<std::string> numbers;
        for (const auto number : std::span(matrix).subspan(first, row.size()))
            numbers.push_back(std::to_string(number));
        rows.push_back(json_array(numbers));
    }
    return json_array(rows);
}

}  // namespace

std::string count_messages(const Harness& harness, const SentSoFar& sent, Operation& operation, Buffers& buffers) {
    std::optional<ScopedControls> scope(operation.controls());
    operation(buffers.send(), buffers.receive());
    const Sent before = sent.read();
    operation(buffers.send(), buffers.receive());
    const Sent after = sent.read();
    scope.reset();  // the harness's collectives follow
    const auto messages = gather_matrix(before.messages, after.messages, harness.comm);
    const auto bytes = gather_matrix(before.bytes, after.bytes, harness.comm);
    return JsonObject().add_json("messages", messages).add_json("bytes", bytes).text();
}

}  // namespace timpani
