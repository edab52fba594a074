#include "measure/cell/check_result.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>

#include "execute/exchange_values.hpp"
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

/// The mistake of the lowest rank that has one, on every rank.
std::optional<std::string> first_mistake(const Harness& harness, const std::optional<std::string>& mistake) {
    int first = mistake ? harness.rank : harness.size;
    MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, harness.comm);
    if (first == harness.size) return std::nullopt;
    return broadcast_values(mistake.value_or(""), first, harness.comm);
}

}  // namespace

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

std::optional<std::string> rules_not_followed(const Harness& harness, const std::string& collective) {
    using Refusal = const char* (*)(const char*);
    static const auto refusal = reinterpret_cast<Refusal>(dlsym(RTLD_DEFAULT, "timpani_refusal"));
    const char* const why = refusal == nullptr ? "libtimpani.so is not loaded" : refusal(collective.c_str());
    return first_mistake(harness,
                         why == nullptr ? std::nullopt : std::optional("rules not followed: " + std::string(why)));
}

}  // namespace timpani
