#include "measure/cell/check_result.hpp"

#include <algorithm>
#include <array>

#include "measure/observe/control.hpp"

namespace timpani {

namespace {

/// The library's text for an error, on one line.
std::string describe_error(int error) {
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    MPI_Error_string(error, text.data(), &length);
    std::ranges::replace(text, '\n', ' ');
    return "refused by the library: " + std::string(text.data(), static_cast<std::size_t>(length));
}

}  // namespace

std::optional<std::string> first_mistake(const Harness& harness, const std::optional<std::string>& mistake) {
    int first = mistake ? harness.rank : harness.size;
    MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, harness.comm);
    if (first == harness.size) return std::nullopt;
    std::string text = mistake.value_or("");
    int length = static_cast<int>(text.size());
    MPI_Bcast(&length, 1, MPI_INT, first, harness.comm);
    text.resize(static_cast<std::size_t>(length));
    MPI_Bcast(text.data(), length, MPI_CHAR, first, harness.comm);
    return text;
}

std::optional<std::string> check_result(const Harness& harness, Operation& operation, Buffers& buffers) {
    buffers.poison(operation);
    int error = MPI_SUCCESS;
    {
        const ScopedControls scope(operation.controls());
        error = operation(buffers.send(), buffers.receive());
    }
    const auto mistake = error == MPI_SUCCESS ? buffers.find_mistake(operation) : std::optional(describe_error(error));
    return first_mistake(harness, mistake);
}

}  // namespace timpani
