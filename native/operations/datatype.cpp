#include "operations/datatype.hpp"

#include <array>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

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
    return {mpi, MPI_SUM, Combination::sum, sizeof(T), write<T>, read<T>, first_different<T>};
}

struct Reduction {
    std::string_view name;
    MPI_Op op;
    Combination combination;
};

struct NamedDatatype {
    std::string_view name;
    std::string_view reduction;
    Datatype datatype;
};

/// Every type with every operator. Built on first use: some libraries' handles are not compile-time constants.
std::vector<NamedDatatype> all_datatypes() {
    const std::array<std::pair<std::string_view, Datatype>, 4> types{{
        {"uint8", datatype_of<std::uint8_t>(MPI_UINT8_T)},
        {"int32", datatype_of<std::int32_t>(MPI_INT32_T)},
        {"float", datatype_of<float>(MPI_FLOAT)},
        {"double", datatype_of<double>(MPI_DOUBLE)},
    }};
    using enum Combination;
    const std::array<Reduction, 10> reductions{{{"sum", MPI_SUM, sum},
                                                {"prod", MPI_PROD, prod},
                                                {"max", MPI_MAX, max},
                                                {"min", MPI_MIN, min},
                                                {"land", MPI_LAND, land},
                                                {"lor", MPI_LOR, lor},
                                                {"lxor", MPI_LXOR, lxor},
                                                {"band", MPI_BAND, band},
                                                {"bor", MPI_BOR, bor},
                                                {"bxor", MPI_BXOR, bxor}}};
    std::vector<NamedDatatype> all;
    for (const auto& [name, type] : types) {
        for (const Reduction& reduction : reductions) {
            all.push_back({name, reduction.name, type});
            all.back().datatype.op = reduction.op;
            all.back().datatype.combination = reduction.combination;
        }
    }
    return all;
}

}  // namespace

const Datatype& find_datatype(const std::string& name, const std::string& reduction) {
    static const std::vector<NamedDatatype> all = all_datatypes();
    for (const NamedDatatype& each : all) {
        if (each.name == name && each.reduction == reduction) return each.datatype;
    }
    throw std::runtime_error("unknown datatype '" + name + "' or operator '" + reduction + "'");
}

}  // namespace timpani
