// Prints the control variables of the MPI library that this program is linked with, one JSON object per line:
//     {"name":"MPIR_CVAR_BCAST_INTRA_ALGORITHM","type":"int","value":0,"text":"auto","description":"…"}
// `value` exists for integers only. `text` is the value of any type, by its name for an enumeration. With `in_force`
// false, it is what the environment sets, else the default: the library does not show the value in force. A line
// {"collective":"bcast","component":"tuned"} names the component that runs a collective, if the library has
// components. Each argument NAME=VALUE is an environment variable; it gets a line
// {"environment":"NAME","everywhere":true} if all ranks find that value. The argument `places` gets a line
// {"places":[…]} with the place of each rank. Only rank 0 prints. Runs with a launcher or without.

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "discover/components.hpp"
#include "json/json.hpp"
#include "measure/observe/describe_places.hpp"

namespace {

constexpr int text_length = 16384;  // longer than any description in MPICH 5.0 (3,100 characters); MPI_T cuts the rest

std::string_view type_name(MPI_Datatype type) {
    if (type == MPI_INT) return "int";
    if (type == MPI_CHAR) return "string";
    return "other";
}

// MPI_T shows the default of a string whatever the environment sets (MPICH 4.0.2 and 5.0.2, mpit_impl.c; Intel MPI
// 2021.18). The library takes the value from the environment variable of the same name, or Intel MPI from the one that
// the description names.
#if defined(MPICH_NUMVERSION)
constexpr bool shows_default_strings = true;
#else
constexpr bool shows_default_strings = false;
#endif

const char* set_string(std::string_view name, std::string_view description) {
    constexpr std::string_view alias = "@Alias:# ";
    if (const auto at = description.find(alias); at != std::string_view::npos) {
        name = description.substr(at + alias.size());
        name = name.substr(0, name.find_first_of(" ,"));
    }
    return std::getenv(std::string(name).c_str());
}

std::optional<std::string> name_of_item(MPI_T_enum enumerator, int wanted) {
    int items = 0;
    std::array<char, 256> name{};
    int length = static_cast<int>(name.size());
    if (MPI_T_enum_get_info(enumerator, &items, name.data(), &length) != MPI_SUCCESS) return std::nullopt;
    for (int item = 0; item < items; ++item) {
        int value = 0;
        length = static_cast<int>(name.size());
        if (MPI_T_enum_get_item(enumerator, item, &value, name.data(), &length) == MPI_SUCCESS && value == wanted)
            return std::string(name.data());
    }
    return std::nullopt;
}

// The bytes of a variable's value. Libraries differ in the `count` of a string.
std::optional<std::vector<char>> read_variable(int index, MPI_Datatype type, int binding) {
    if (binding != MPI_T_BIND_NO_OBJECT) return std::nullopt;
    MPI_T_cvar_handle handle{};
    int count = 0;
    if (MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count) != MPI_SUCCESS) return std::nullopt;
    std::vector<char> raw(static_cast<std::size_t>(std::max(count, 0) + text_length));
    const bool read = (count == 1 || type == MPI_CHAR) && MPI_T_cvar_read(handle, raw.data()) == MPI_SUCCESS;
    MPI_T_cvar_handle_free(&handle);
    return read ? std::optional(std::move(raw)) : std::nullopt;
}

template <typename Number>
Number number_in(const std::vector<char>& raw) {
    Number number{};
    std::memcpy(&number, raw.data(), sizeof(number));
    return number;
}

// The value of a variable of one of MPI_T's types.
std::optional<std::string> text_in(const std::vector<char>& raw, MPI_Datatype type, MPI_T_enum enumerator) {
    if (type == MPI_CHAR) return std::string(raw.data());
    if (type == MPI_INT) {
        const int value = number_in<int>(raw);
        const auto name = enumerator == MPI_T_ENUM_NULL ? std::nullopt : name_of_item(enumerator, value);
        return name.value_or(std::to_string(value));
    }
    if (type == MPI_UNSIGNED) return std::to_string(number_in<unsigned>(raw));
    if (type == MPI_UNSIGNED_LONG) return std::to_string(number_in<unsigned long>(raw));
    if (type == MPI_UNSIGNED_LONG_LONG) return std::to_string(number_in<unsigned long long>(raw));
    if (type == MPI_DOUBLE) return std::to_string(number_in<double>(raw));
    if (type == MPI_C_BOOL) return std::to_string(static_cast<int>(raw.front() != 0));
    return std::nullopt;
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
    MPI_T_enum enumerator = MPI_T_ENUM_NULL;
    if (MPI_T_cvar_get_info(index, name.data(), &name_length, &verbosity, &type, &enumerator, description.data(),
                            &description_length, &binding, &scope) != MPI_SUCCESS)
        return;  // a variable whose component was unloaded
    timpani::JsonObject line;
    line.add("name", name.data()).add("type", type_name(type));
    const auto raw = read_variable(index, type, binding);
    if (raw && type == MPI_INT) line.add("value", number_in<int>(*raw));
    const bool hidden = shows_default_strings && type == MPI_CHAR;
    const char* const set = hidden ? set_string(name.data(), description.data()) : nullptr;
    std::optional<std::string> text;
    if (raw) text = text_in(*raw, type, enumerator);
    if (set != nullptr) text = set;
    if (text) line.add("text", std::string_view(*text));
    if (hidden) line.add("in_force", false);
    std::cout << line.add("description", description.data()).text() << '\n';
}

void print_environment(std::string_view argument, int rank) {
    const std::string name(argument.substr(0, argument.find('=')));
    const char* found = std::getenv(name.c_str());
    const int here = found != nullptr && name + "=" + found == argument ? 1 : 0;
    int everywhere = 0;
    MPI_Allreduce(&here, &everywhere, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (rank != 0) return;
    std::cout << timpani::JsonObject().add("environment", name).add("everywhere", everywhere != 0).text() << '\n';
}

void print_places(int rank) {
    const auto places = timpani::describe_places(MPI_COMM_WORLD);
    if (rank == 0) std::cout << timpani::JsonObject().add_json("places", places).text() << '\n';
}

}  // namespace

int main(int argc, char** argv) {
    // The tool interface ends before MPI: the reverse order crashes Open MPI 4.1.4.
    MPI_Init(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);  // ranks that can't reach each other fail here, not in a measurement
    int provided = 0;
    if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS) {
        std::cerr << "this MPI library has no tool interface (MPI_T)\n";
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int variables = 0;
    MPI_T_cvar_get_num(&variables);
    for (int index = 0; rank == 0 && index < variables; ++index) print_variable(index);
    if (rank == 0)
        for (const auto& [collective, component] : timpani::collective_components())
            std::cout << timpani::JsonObject().add("collective", collective).add("component", component).text() << '\n';
    for (const std::string_view argument : std::span(argv, static_cast<std::size_t>(argc)).subspan(1)) {
        if (argument == "places") {
            print_places(rank);
        } else {
            print_environment(argument, rank);
        }
    }
    MPI_T_finalize();
    MPI_Finalize();
}
