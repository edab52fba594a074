#include "operations/transpose/matrix.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>

#include "collectives/collective.hpp"
#include "execute/node.hpp"
#include "operations/operation.hpp"

namespace timpani {

namespace {

/// With the element's size known, a copy is one load and one store.
template <std::size_t Bytes>
void transpose_elements(const std::byte* from, std::int64_t row_length, Matrix matrix, std::byte* to) {
    for (std::int64_t column = 0; column < matrix.columns; ++column) {
        const std::byte* element = from + static_cast<std::size_t>(column) * Bytes;
        for (int row = 0; row < matrix.rows; ++row) {
            std::memcpy(to, element, Bytes);
            to += Bytes;
            element += static_cast<std::size_t>(row_length) * Bytes;
        }
    }
}

constexpr std::int64_t kCacheLine = 64;  // bytes, of x86 and of most ARM processors

int most_nearly_square_rows(int elements) {
    int rows = 1;
    for (std::int64_t divisor = 2; divisor * divisor <= elements; ++divisor) {
        if (elements % divisor == 0) rows = static_cast<int>(divisor);
    }
    return rows;
}

}  // namespace

Matrix matrix_of(const OperationSpec& spec) {
    const int elements = int_count(spec.bytes, spec.datatype);
    const auto rows = spec.value_of("rows");
    if (rows == 0) {
        const int found = most_nearly_square_rows(elements);
        return {found, elements / found};
    }
    if (rows > std::max(1, elements) || elements % rows != 0) {
        throw NotApplicable(std::to_string(elements) + " elements fill no matrix of " + std::to_string(rows) + " rows");
    }
    return {static_cast<int>(rows), static_cast<int>(elements / rows)};
}

void transpose_by_hand(const std::byte* from, std::int64_t row_length, Matrix matrix, std::size_t element_bytes,
                       std::byte* to) {
    pass_time_of_columns(matrix.elements());
    switch (element_bytes) {
        case 1:
            return transpose_elements<1>(from, row_length, matrix, to);
        case 4:
            return transpose_elements<4>(from, row_length, matrix, to);
        case 8:
            return transpose_elements<8>(from, row_length, matrix, to);
        default:
            throw std::logic_error("no transposition of elements of this size");
    }
}

void pass_time_of_columns(std::int64_t elements) { pass_time_of_copying(elements * kCacheLine); }

}  // namespace timpani
