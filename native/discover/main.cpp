// Prints the control variables of the MPI library that this program is linked with, one JSON object a line:
//     {"name":"MPIR_CVAR_BCAST_INTRA_ALGORITHM","type":"int","value":0,"description":"…"}
// `value` is there for whole numbers only. Runs as a single process, without a launcher.

#include <mpi.h>

#include <array>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string_view>

#include "json/json.hpp"

namespace {

constexpr int text_length = 16384;  // longer than any description of MPICH 5.0 (3,100 characters); MPI_T cuts the rest

std::string_view type_name(MPI_Datatype type) {
    if (type == MPI_INT) return "int";
    if (type == MPI_CHAR) return "string";
    return "other";
}

std::optional<int> value_of(int index, MPI_Datatype type, int binding) {
    if (type != MPI_INT || binding != MPI_T_BIND_NO_OBJECT) return std::nullopt;
    MPI_T_cvar_handle handle{};
    int count = 0;
    if (MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count) != MPI_SUCCESS) return std::nullopt;
    int value = 0;
    const bool read = count == 1 && MPI_T_cvar_read(handle, &value) == MPI_SUCCESS;
    MPI_T_cvar_handle_free(&handle);
    return read ? std::optional(value) : std::nullopt;
}

void print_variable(int index) {
    static std::array<char, text_length> name;
    static std::array<char, text_length> description;
    int name_length = text_length;
    int description_length = text_length;
    int verbosity = 0;
    int binding = 0;
    int scope = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_T_enum enumerator{};
    if (MPI_T_cvar_get_info(index, name.data(), &name_length, &verbosity, &type, &enumerator, description.data(),
                            &description_length, &binding, &scope) != MPI_SUCCESS)
        return;  // a variable whose component was unloaded
    timpani::JsonObject line;
    line.add("name", name.data()).add("type", type_name(type));
    if (const auto value = value_of(index, type, binding)) line.add("value", *value);
    std::cout << line.add("description", description.data()).text() << '\n';
}

}  // namespace

int main(int argc, char** argv) {
    // The tool interface ends before MPI does: the other order crashes Open MPI 4.1.4.
    MPI_Init(&argc, &argv);
    int provided = 0;
    if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS) {
        std::cerr << "this MPI library has no tool interface (MPI_T)\n";
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    int variables = 0;
    MPI_T_cvar_get_num(&variables);
    for (int index = 0; index < variables; ++index) print_variable(index);
    MPI_T_finalize();
    MPI_Finalize();
}
