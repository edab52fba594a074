// The names that Fortran programs call on Open MPI. MPICH's Fortran layer calls the C functions: this file must not be
// in its library.

#include "interpose/entry/open_mpi_fortran.hpp"

#include <algorithm>
#include <array>
#include <type_traits>

#include "interpose/profile/call_site.hpp"

extern "C" {

// Fortran's MPI_IN_PLACE and MPI_BOTTOM are identified by their addresses, in the spelling of the compiler that Open
// MPI was built with. The other spellings don't exist.
extern int mpi_fortran_in_place __attribute__((weak));
extern int mpi_fortran_in_place_ __attribute__((weak));
extern int mpi_fortran_in_place_f2c __asm__("mpi_fortran_in_place__") __attribute__((weak));
extern int MPI_FORTRAN_IN_PLACE __attribute__((weak));
extern int mpi_fortran_bottom __attribute__((weak));
extern int mpi_fortran_bottom_ __attribute__((weak));
extern int mpi_fortran_bottom_f2c __asm__("mpi_fortran_bottom__") __attribute__((weak));
extern int MPI_FORTRAN_BOTTOM __attribute__((weak));

}  // extern "C"

namespace {

void* address(void* given) {
    const std::array in_place{&mpi_fortran_in_place, &mpi_fortran_in_place_, &mpi_fortran_in_place_f2c,
                              &MPI_FORTRAN_IN_PLACE};
    const std::array bottom{&mpi_fortran_bottom, &mpi_fortran_bottom_, &mpi_fortran_bottom_f2c, &MPI_FORTRAN_BOTTOM};
    if (given == nullptr) return given;
    if (std::ranges::find(in_place, given) != in_place.end()) return MPI_IN_PLACE;
    return std::ranges::find(bottom, given) != bottom.end() ? MPI_BOTTOM : given;
}

/// An argument of a C function, by its address in Fortran. Fortran's integers are as wide as C's: CMake checks it.
template <typename Argument>
Argument from_fortran(void* given) {
    const auto* integers = static_cast<const MPI_Fint*>(given);
    if constexpr (std::is_same_v<Argument, MPI_Comm>) return PMPI_Comm_f2c(*integers);
    if constexpr (std::is_same_v<Argument, MPI_Datatype>) return PMPI_Type_f2c(*integers);
    if constexpr (std::is_same_v<Argument, MPI_Op>) return PMPI_Op_f2c(*integers);
    if constexpr (std::is_same_v<Argument, int>) return *integers;
    if constexpr (std::is_same_v<Argument, const int*>) return integers;
    if constexpr (std::is_convertible_v<void*, Argument>) return address(given);
}

template <typename>
struct Word {
    using Type = void*;
};

/// `error` is optional in mpi_f08.
void give(void* error, int code) {
    if (error != nullptr) *static_cast<MPI_Fint*>(error) = code;
}

/// A C function that takes what Fortran passes.
template <typename... Arguments>
auto with_addresses(int (*function)(Arguments...)) {
    return [function](typename Word<Arguments>::Type... given, void* error) {
        give(error, function(from_fortran<Arguments>(given)...));
    };
}

void end(int (*freed)(MPI_Comm*), void* comm, void* error) {
    auto handle = from_fortran<MPI_Comm>(comm);
    const int code = freed(&handle);
    *static_cast<MPI_Fint*>(comm) = PMPI_Comm_c2f(handle);
    give(error, code);
}

}  // namespace

#define TIMPANI_FUNCTION(name, upper, words)                                           \
    void MPI_##upper TIMPANI_WORDS_##words __attribute__((alias("ompi_" #name "_f"))); \
    TIMPANI_FORTRAN(name, words)
#define TIMPANI_CALL(Name, name, upper, words)                \
    TIMPANI_FUNCTION(name, upper, words) {                    \
        timpani::mark_call_site(__builtin_return_address(0)); \
        with_addresses(MPI_##Name) TIMPANI_GIVEN_##words;     \
    }

#pragma GCC visibility push(default)
extern "C" {

TIMPANI_FUNCTION(init, INIT, 1) { give(a, MPI_Init(nullptr, nullptr)); }
TIMPANI_FUNCTION(init_thread, INIT_THREAD, 3) {
    int level = 0;
    give(c, MPI_Init_thread(nullptr, nullptr, from_fortran<int>(a), &level));
    *static_cast<MPI_Fint*>(b) = level;
}
TIMPANI_FUNCTION(comm_free, COMM_FREE, 2) { end(MPI_Comm_free, a, b); }
TIMPANI_FUNCTION(comm_disconnect, COMM_DISCONNECT, 2) { end(MPI_Comm_disconnect, a, b); }
TIMPANI_CALL(Finalize, finalize, FINALIZE, 1)
TIMPANI_CALL(Abort, abort, ABORT, 3)
#define REPLACED(Name, name, upper, words, ...) TIMPANI_CALL(Name, name, upper, words)
#define UNCOUNTED REPLACED
#include "interpose/entry/entries.def"

}  // extern "C"
#pragma GCC visibility pop
