#include "operations/datatype.hpp"

#include <array>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "operations/values.hpp"

namespace timpani {

namespace {

template <typename T>
void write(std::byte* at, std::span<const std::uint64_t> values) {
    for (const auto value : values) {
        const T converted = static_cast<T>(value);
        std::memcpy(at, &converted, sizeof converted);
        at += sizeof converted;
    }
}

template <typename T>
void read(const std::byte* at, std::span<std::uint64_t> values) {
    for (auto& value : values) {
        T found;
        std::memcpy(&found, at, sizeof found);
        value = static_cast<std::uint64_t>(found);
        at += sizeof found;
    }
}

template <typename T>
std::size_t first_different(const std::byte* at, std::span<const std::uint64_t> values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
        T found;
        std::memcpy(&found, at + i * sizeof found, sizeof found);
        if (found != static_cast<T>(values[i]) && values[i] != kUndefined) return i;
    }
    return values.size();
}

template <typename T>
Datatype datatype_of(MPI_Datatype mpi) {
    return {mpi, sizeof(T), write<T>, read<T>, first_different<T>};
}

}  // namespace

const Datatype& find_datatype(const std::string& name) {
    // Built on first use: some libraries' type handles are not compile-time constants.
    static const std::array<std::pair<std::string_view, Datatype>, 4> datatypes{{
        {"uint8", datatype_of<std::uint8_t>(MPI_UINT8_T)},
        {"int32", datatype_of<std::int32_t>(MPI_INT32_T)},
        {"float", datatype_of<float>(MPI_FLOAT)},
        {"double", datatype_of<double>(MPI_DOUBLE)},
    }};
    for (const auto& [known, datatype] : datatypes) {
        if (known == name) return datatype;
    }
    throw std::runtime_error("unknown datatype '" + name + "'");
}

}  // namespace timpani
