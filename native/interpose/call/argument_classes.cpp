#include "interpose/call/argument_classes.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace timpani {

namespace {

using NamedOperator = std::pair<MPI_Op, std::string_view>;

/// nullptr: an operator of the program.
const NamedOperator* find_predefined(MPI_Op op) {
    static const std::array<NamedOperator, 13> known{{{MPI_SUM, "sum"},
                                                      {MPI_MAX, "max"},
                                                      {MPI_MIN, "min"},
                                                      {MPI_PROD, "prod"},
                                                      {MPI_LAND, "land"},
                                                      {MPI_BAND, "band"},
                                                      {MPI_LOR, "lor"},
                                                      {MPI_BOR, "bor"},
                                                      {MPI_LXOR, "lxor"},
                                                      {MPI_BXOR, "bxor"},
                                                      {MPI_MAXLOC, "maxloc"},
                                                      {MPI_MINLOC, "minloc"},
                                                      {MPI_OP_NULL, ""}}};
    const auto* const found = std::ranges::find(known, op, &NamedOperator::first);
    return found == known.end() ? nullptr : found;
}

}  // namespace

bool predefined_op(MPI_Op op) { return find_predefined(op) != nullptr; }

std::string_view operator_class(MPI_Op op) {
    if (const NamedOperator* const found = find_predefined(op)) return found->second;
    int commutes = 0;
    return PMPI_Op_commutative(op, &commutes) == MPI_SUCCESS && commutes == 0 ? "user_ordered" : "user";
}

std::string_view datatype_class(MPI_Datatype type) {
    static const std::array<std::pair<MPI_Datatype, std::string_view>, 28> known{
        {{MPI_DOUBLE, "double"},
         {MPI_FLOAT, "float"},
         {MPI_BYTE, "uint8"},
         {MPI_CHAR, "int8"},
         {MPI_SIGNED_CHAR, "int8"},
         {MPI_UNSIGNED_CHAR, "uint8"},
         {MPI_INT8_T, "int8"},
         {MPI_UINT8_T, "uint8"},
         {MPI_INT, "int32"},
         {MPI_INT32_T, "int32"},
         {MPI_UNSIGNED, "uint32"},
         {MPI_UINT32_T, "uint32"},
         {MPI_LONG, "int64"},
         {MPI_LONG_LONG, "int64"},
         {MPI_INT64_T, "int64"},
         {MPI_UNSIGNED_LONG, "uint64"},
         {MPI_UNSIGNED_LONG_LONG, "uint64"},
         {MPI_UINT64_T, "uint64"},
         {MPI_SHORT, "int16"},
         {MPI_UNSIGNED_SHORT, "uint16"},
         {MPI_LONG_DOUBLE, "long_double"},
         {MPI_C_FLOAT_COMPLEX, "complex"},
         {MPI_C_DOUBLE_COMPLEX, "double_complex"},
         {MPI_DOUBLE_PRECISION, "double"},
         {MPI_REAL, "float"},
         {MPI_INTEGER, "int32"},
         {MPI_DOUBLE_COMPLEX, "double_complex"},
         {MPI_DATATYPE_NULL, ""}}};
    const auto* const found = std::ranges::find(known, type, &std::pair<MPI_Datatype, std::string_view>::first);
    if (found != known.end()) return found->second;
    return predefined_type(type) ? "other" : "derived";
}

}  // namespace timpani
