#include "measure/count_messages.hpp"

#include <optional>
#include <stdexcept>
#include <vector>

#include "json/json.hpp"
#include "measure/control.hpp"

namespace timpani {

namespace {

MPI_T_pvar_handle open_variable(MPI_T_pvar_session session, const char* name, MPI_Comm world, int size) {
    int index = 0;
    if (MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_SIZE, &index) != MPI_SUCCESS) {
        throw std::runtime_error(std::string("this MPI library has no performance variable ") + name);
    }
    MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
    int count = 0;
    if (MPI_T_pvar_handle_alloc(session, index, static_cast<void*>(&world), &handle, &count) != MPI_SUCCESS ||
        count != size) {
        throw std::runtime_error(std::string("the performance variable ") + name + " can't be read");
    }
    MPI_T_pvar_start(session, handle);
    return handle;
}

/// The p × p matrix of which each rank holds its row, as JSON at rank 0.
std::string gather_matrix(const std::vector<std::size_t>& before, const std::vector<std::size_t>& after,
                          MPI_Comm world) {
    const auto size = before.size();
    std::vector<std::int64_t> row(size);
    for (std::size_t i = 0; i < size; ++i) row[i] = static_cast<std::int64_t>(after[i] - before[i]);
    std::vector<std::int64_t> matrix(size * size);
    const int count = static_cast<int>(size);
    MPI_Gather(row.data(), count, MPI_INT64_T, matrix.data(), count, MPI_INT64_T, 0, world);
    std::vector<std::string> rows;
    for (std::size_t i = 0; i < size; ++i) {
        std::vector<std::string> numbers(size);
        for (std::size_t j = 0; j < size; ++j) numbers[j] = std::to_string(matrix[i * size + j]);
        rows.push_back(json_array(numbers));
    }
    return json_array(rows);
}

}  // namespace

MessageCounter::MessageCounter(MPI_Comm world) : world_(world) {
    MPI_Comm_size(world_, &size_);
    MPI_T_pvar_session_create(&session_);
    messages_ = open_variable(session_, "pml_monitoring_messages_count", world_, size_);
    bytes_ = open_variable(session_, "pml_monitoring_messages_size", world_, size_);
}

MessageCounter::~MessageCounter() {
    MPI_T_pvar_handle_free(session_, &messages_);
    MPI_T_pvar_handle_free(session_, &bytes_);
    MPI_T_pvar_session_free(&session_);
}

std::vector<std::size_t> MessageCounter::read(MPI_T_pvar_handle handle) const {
    std::vector<std::size_t> counts(static_cast<std::size_t>(size_));
    MPI_T_pvar_read(session_, handle, counts.data());
    return counts;
}

std::string MessageCounter::count(Operation& operation, Buffers& buffers) {
    std::optional<ScopedControls> scope(operation.controls());
    operation(buffers.send(), buffers.receive());
    const auto messages_before = read(messages_);
    const auto bytes_before = read(bytes_);
    operation(buffers.send(), buffers.receive());
    const auto messages_after = read(messages_);
    const auto bytes_after = read(bytes_);
    scope.reset();  // the harness's own collectives come next
    const auto messages = gather_matrix(messages_before, messages_after, world_);
    const auto bytes = gather_matrix(bytes_before, bytes_after, world_);
    return JsonObject().add_json("messages", messages).add_json("bytes", bytes).text();
}

}  // namespace timpani
